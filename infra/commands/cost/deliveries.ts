/** The cost of a million events and deliveries, from consumption that a test measures. */
import { lambdaDollars, MILLION, prices, tableDollars } from './prices.ts';

/** What an event or a delivery consumes. Fractions are parts of a batch. */
export interface DeliveryConsumption {
  /** Calls of the table. */
  readonly calls: number;
  readonly read: number;
  readonly written: number;
  /** Requests of SQS: sending, receiving and deleting. */
  readonly sqs: number;
  /** Invocations of workers that post to receivers, and all others. */
  readonly postingRuns: number;
  readonly otherRuns: number;
}

/** The assumed duration of an invocation. A receiver takes most of one that posts. */
const POSTING_MILLISECONDS = 300;
const OTHER_MILLISECONDS = 30;

/**
 * Measured for events of two kilobytes. test/integration/webhooks/deliveryConsumption.test.ts measures them again. A delivery is the difference
 * between an event with it and an event without.
 */
export const deliveryConsumption = {
  event: {
    what: 'events of 2 kB without deliveries, in batches of ten',
    consumed: { calls: 2.1, read: 0.4, written: 12, sqs: 0, postingRuns: 0, otherRuns: 0.1 },
  },
  inTens: {
    what: 'deliveries that succeed at the first attempt, in batches of ten',
    consumed: { calls: 1.1, read: 3.2, written: 2, sqs: 0.3, postingRuns: 0.1, otherRuns: 0 },
  },
  alone: {
    what: 'deliveries that succeed at the first attempt, in batches of one',
    consumed: { calls: 2, read: 5, written: 2, sqs: 2.1, postingRuns: 1, otherRuns: 0 },
  },
  fifty: {
    what: 'events of 2 kB to 50 endpoints',
    consumed: { calls: 61, read: 107, written: 124, sqs: 3, postingRuns: 1, otherRuns: 1 },
  },
  exhausted: {
    what: 'deliveries that are exhausted behind a dead endpoint',
    consumed: { calls: 4.04, read: 5, written: 9, sqs: 0.3, postingRuns: 0, otherRuns: 0.02 },
  },
} as const satisfies Readonly<Record<string, { readonly what: string; readonly consumed: DeliveryConsumption }>>;

/** Returns the cost of the table in dollars per million. */
export function deliveryTableDollars({ read, written }: Pick<DeliveryConsumption, 'read' | 'written'>): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}

/** Returns dollars per million: table, SQS and functions. */
export function deliveryDollars(consumed: DeliveryConsumption): number {
  const { sqs, postingRuns, otherRuns } = consumed;
  return (
    deliveryTableDollars(consumed) +
    sqs * prices.queueRequests +
    lambdaDollars(MILLION * postingRuns, POSTING_MILLISECONDS) +
    lambdaDollars(MILLION * otherRuns, OTHER_MILLISECONDS)
  );
}
