import { describe, expect, test } from '@jest/globals';
import { deliveryConsumption } from '../../../infra/commands/cost/deliveries.ts';
import { eventFootprint, type Footprint } from '../../../infra/commands/simulate/footprints.ts';
import { measureFootprint } from '../../bench/deliveries/footprint.ts';

describe('the footprint of an event with one delivery that npm run simulate uses', () => {
  test('equals the measured footprint', async () => {
    expect(await measureFootprint()).toEqual(eventFootprint);
  });

  test('has the same units as an event and a delivery in batches of ten in npm run cost', () => {
    const { event, inTens } = deliveryConsumption;
    const footprints: readonly Footprint[] = eventFootprint;
    const units = (unit: 'read' | 'written') => footprints.reduce((sum, footprint) => sum + footprint[unit], 0);
    expect(units('read')).toBeCloseTo(event.consumed.read + inTens.consumed.read, 6);
    expect(units('written')).toBe(event.consumed.written + inTens.consumed.written);
  });
});
