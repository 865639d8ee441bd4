import { LAMBDA_LOG_BYTES } from '../../cost/calls.ts';
import { byteDollars, lambdaDollars, MILLION, prices, tableDollars } from '../../cost/prices.ts';

/** What one event or one delivery uses: its equal share of what its batch uses. */
export interface DeliveryConsumption {
  readonly calls: number;
  readonly read: number;
  readonly written: number;
  readonly sqs: number;
  readonly postingRuns: number;
  readonly otherRuns: number;
  readonly posts: number;
}

/** Assumed. The run mostly waits for the receiver. */
export const POSTING_MILLISECONDS = 300;
export const OTHER_MILLISECONDS = 30;
const RUN_LOG_BYTES = 650;
/** The body, headers and signature of a webhook about an event of 2 kB. */
const POST_BYTES = 3_000;

/**
 * For events of 2 kB. test/integration/webhooks/deliveryConsumption.test.ts asserts these values. A delivery is the
 * difference between an event with one delivery and an event without deliveries.
 */
export const deliveryConsumption = {
  event: {
    label: 'events of 2 kB without deliveries, in batches of ten',
    consumed: { calls: 2.1, read: 0.8, written: 9, sqs: 0, postingRuns: 0, otherRuns: 0.1, posts: 0 },
  },
  eventAlone: {
    label: 'events of 2 kB without deliveries, in batches of one',
    consumed: { calls: 3, read: 8, written: 9, sqs: 0, postingRuns: 0, otherRuns: 1, posts: 0 },
  },
  inTens: {
    label: 'deliveries that succeed at the first attempt, in batches of ten',
    consumed: { calls: 1.1, read: 3.2, written: 2, sqs: 0.3, postingRuns: 0.1, otherRuns: 0, posts: 1 },
  },
  alone: {
    label: 'deliveries that succeed at the first attempt, in batches of one',
    consumed: { calls: 2, read: 5, written: 2, sqs: 2.1, postingRuns: 1, otherRuns: 0, posts: 1 },
  },
  fifty: {
    label: 'events of 2 kB to 50 endpoints',
    consumed: { calls: 61, read: 111, written: 121, sqs: 3, postingRuns: 1, otherRuns: 1, posts: 50 },
  },
  exhausted: {
    label: 'deliveries that are exhausted behind a dead endpoint',
    consumed: { calls: 3.05, read: 4.6, written: 8.01, sqs: 0.3, postingRuns: 0, otherRuns: 0.02, posts: 0 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly consumed: DeliveryConsumption }>>;

export function deliveryTableDollars({ read, written }: Pick<DeliveryConsumption, 'read' | 'written'>): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}

export interface DeliveryCost {
  readonly table: number;
  readonly queue: number;
  readonly functions: number;
  readonly logs: number;
  readonly dataOut: number;
  readonly total: number;
}

/** Returns dollars per million. Starts of instances are left out, because they are rare in workers. */
export function deliveryCost(consumed: DeliveryConsumption): DeliveryCost {
  const { sqs, postingRuns, otherRuns, posts } = consumed;
  const parts = {
    table: deliveryTableDollars(consumed),
    queue: sqs * prices.queueRequests,
    functions:
      lambdaDollars(MILLION * postingRuns, POSTING_MILLISECONDS) +
      lambdaDollars(MILLION * otherRuns, OTHER_MILLISECONDS),
    logs: byteDollars(MILLION * (postingRuns + otherRuns) * (RUN_LOG_BYTES + LAMBDA_LOG_BYTES), prices.logGigabyte),
    dataOut: byteDollars(MILLION * posts * POST_BYTES, prices.dataOutGigabyte),
  };
  return { ...parts, total: Object.values(parts).reduce((sum, dollars) => sum + dollars, 0) };
}

/**
 * Returns dollars per million, without logs and without data that is sent to the internet.
 * test/bench/deliveries/cost.ts compares this sum with its targets.
 */
export function deliveryDollars(consumed: DeliveryConsumption): number {
  const { table, queue, functions } = deliveryCost(consumed);
  return table + queue + functions;
}
