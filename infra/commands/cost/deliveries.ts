/** The cost of a million events and deliveries, from consumption that a test measures. */
import { lambdaDollars, MILLION, prices, tableDollars } from './prices.ts';

/** The consumption of one event or one delivery. An event that is a tenth of a batch consumes a tenth of the batch's run. */
export interface DeliveryConsumption {
  /** The number of table calls. */
  readonly calls: number;
  readonly read: number;
  readonly written: number;
  /** The number of SQS requests to send, receive and delete messages. */
  readonly sqs: number;
  /** The number of worker runs that post to receivers. */
  readonly postingRuns: number;
  /** The number of other worker runs. */
  readonly otherRuns: number;
}

/** The assumed duration of a run that posts. Most of it is the receiver's time. */
export const POSTING_MILLISECONDS = 300;
/** The assumed duration of another run. */
export const OTHER_MILLISECONDS = 30;

/**
 * The measured consumption of events of two kilobytes. test/integration/webhooks/deliveryConsumption.test.ts asserts these
 * values. A delivery consumes the difference between an event with the delivery and an event without it.
 */
export const deliveryConsumption = {
  event: {
    label: 'events of 2 kB without deliveries, in batches of ten',
    consumed: { calls: 2.1, read: 0.4, written: 12, sqs: 0, postingRuns: 0, otherRuns: 0.1 },
  },
  inTens: {
    label: 'deliveries that succeed at the first attempt, in batches of ten',
    consumed: { calls: 1.1, read: 3.2, written: 2, sqs: 0.3, postingRuns: 0.1, otherRuns: 0 },
  },
  alone: {
    label: 'deliveries that succeed at the first attempt, in batches of one',
    consumed: { calls: 2, read: 5, written: 2, sqs: 2.1, postingRuns: 1, otherRuns: 0 },
  },
  fifty: {
    label: 'events of 2 kB to 50 endpoints',
    consumed: { calls: 61, read: 107, written: 124, sqs: 3, postingRuns: 1, otherRuns: 1 },
  },
  exhausted: {
    label: 'deliveries that are exhausted behind a dead endpoint',
    consumed: { calls: 4.04, read: 5, written: 9, sqs: 0.3, postingRuns: 0, otherRuns: 0.02 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly consumed: DeliveryConsumption }>>;

/** Returns the cost of the table in dollars per million events or deliveries. */
export function deliveryTableDollars({ read, written }: Pick<DeliveryConsumption, 'read' | 'written'>): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}

/** Returns the cost of table, SQS and functions in dollars per million events or deliveries. */
export function deliveryDollars(consumed: DeliveryConsumption): number {
  const { sqs, postingRuns, otherRuns } = consumed;
  return (
    deliveryTableDollars(consumed) +
    sqs * prices.queueRequests +
    lambdaDollars(MILLION * postingRuns, POSTING_MILLISECONDS) +
    lambdaDollars(MILLION * otherRuns, OTHER_MILLISECONDS)
  );
}
