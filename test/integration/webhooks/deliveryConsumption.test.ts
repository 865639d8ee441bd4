import { describe, expect, test } from '@jest/globals';
import { type DeliveryConsumption, deliveryConsumption } from '../../../infra/commands/cost/deliveries.ts';
import { measureConsumption } from '../../bench/deliveries/consumption.ts';

/**
 * The accepted relative difference. In rows of exhausted deliveries it is larger, because random ids decide which
 * parked deliveries share a shard.
 */
const TOLERANCE = { exhausted: 0.02, other: 0.001 };
/**
 * The accepted difference in the number of SQS requests of an exhausted delivery. The sweep sends one message for each
 * shard that has due work. Nine runs measured 0.28 to 0.32 requests. For a million of these deliveries, that changes
 * the cost by about $0.02.
 */
const EXHAUSTED_SQS_TOLERANCE = 0.05;

describe('the consumption that npm run cost prices', () => {
  test('equals the measured consumption of events and deliveries', async () => {
    const measured = await measureConsumption();
    for (const [name, { consumed }] of Object.entries(deliveryConsumption)) {
      const tolerance = name === 'exhausted' ? TOLERANCE.exhausted : TOLERANCE.other;
      const actual = measured[name as keyof typeof measured];
      // All figures of a row are compared at once, so that a failure shows all of them.
      expect([name, nearTo(consumed, actual, tolerance)]).toEqual([name, rounded(actual)]);
    }
  });
});

/** Returns the expected figures. A figure that is within the tolerance is replaced by the measured one. */
function nearTo(expected: DeliveryConsumption, actual: DeliveryConsumption, tolerance: number): DeliveryConsumption {
  const acceptedDifference = (name: keyof DeliveryConsumption) =>
    name === 'sqs' && tolerance === TOLERANCE.exhausted
      ? EXHAUSTED_SQS_TOLERANCE
      : Math.max(expected[name] * tolerance, tolerance);
  const isNear = (name: keyof DeliveryConsumption) =>
    Math.abs(actual[name] - expected[name]) <= acceptedDifference(name);
  const names = Object.keys(expected) as (keyof DeliveryConsumption)[];
  return Object.fromEntries(
    names.map((name) => [name, isNear(name) ? rounded(actual)[name] : expected[name]]),
  ) as unknown as DeliveryConsumption;
}

function rounded(consumed: DeliveryConsumption): DeliveryConsumption {
  return Object.fromEntries(
    Object.entries(consumed).map(([name, value]) => [name, Math.round(value * 100) / 100]),
  ) as unknown as DeliveryConsumption;
}
