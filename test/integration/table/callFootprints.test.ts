import { describe, expect, test } from '@jest/globals';
import { callMix } from '../../../infra/commands/load/mix.ts';
import { callFootprints, type Footprint } from '../../../infra/commands/simulate/footprints.ts';
import { consumptionOfRequests } from '../../../infra/cost/calls.ts';
import { measureCallFootprints } from '../../bench/callFootprints.ts';

const byPartition = (footprints: readonly Footprint[]) =>
  Object.fromEntries(footprints.map(({ partitions, read, written }) => [partitions, { read, written }]));

describe('the footprints of calls that npm run simulate uses', () => {
  test('equal the measured footprints', async () => {
    const expected = Object.entries(callFootprints).map(([path, footprints]) => [path, byPartition(footprints)]);
    expect(await measureCallFootprints()).toEqual(Object.fromEntries(expected));
  });

  test.each(callMix.map(({ path, cost }) => [path, cost] as const))(
    'have the same units as "%s %s" in npm run cost',
    (path, cost) => {
      const footprints: readonly Footprint[] = callFootprints[path];
      const sum = {
        read: footprints.reduce((units, { read }) => units + read, 0),
        written: footprints.reduce((units, { written }) => units + written, 0),
      };
      const { read, written } = consumptionOfRequests([]).get(`${path} ${cost}`) ?? {};
      expect(sum).toEqual({ read, written });
    },
  );
});
