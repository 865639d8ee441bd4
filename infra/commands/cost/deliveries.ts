/** The cost of a million events and deliveries, from consumption that a test measures. */
import { LAMBDA_LOG_BYTES } from './calls.ts';
import { byteDollars, lambdaDollars, MILLION, prices, tableDollars } from './prices.ts';

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
  /** The number of requests to receivers. */
  readonly posts: number;
}

/** The assumed duration of a run that posts. Most of it is the receiver's time. */
export const POSTING_MILLISECONDS = 300;
/** The assumed duration of another run. */
export const OTHER_MILLISECONDS = 30;
/** The bytes that a run logs: one line about the run, and one line with its metrics. */
const RUN_LOG_BYTES = 650;
/** The bytes of a request with an event of two kilobytes: the body with its envelope, the headers and the signature. */
const POST_BYTES = 3_000;

/**
 * The measured consumption of events of two kilobytes. test/integration/webhooks/deliveryConsumption.test.ts asserts these
 * values. A delivery consumes the difference between an event with the delivery and an event without it.
 */
export const deliveryConsumption = {
  event: {
    label: 'events of 2 kB without deliveries, in batches of ten',
    consumed: { calls: 2.1, read: 0.4, written: 12, sqs: 0, postingRuns: 0, otherRuns: 0.1, posts: 0 },
  },
  eventAlone: {
    label: 'events of 2 kB without deliveries, in batches of one',
    consumed: { calls: 3, read: 4, written: 12, sqs: 0, postingRuns: 0, otherRuns: 1, posts: 0 },
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
    consumed: { calls: 61, read: 107, written: 124, sqs: 3, postingRuns: 1, otherRuns: 1, posts: 50 },
  },
  exhausted: {
    label: 'deliveries that are exhausted behind a dead endpoint',
    consumed: { calls: 4.04, read: 5, written: 9, sqs: 0.3, postingRuns: 0, otherRuns: 0.02, posts: 0 },
  },
} as const satisfies Readonly<Record<string, { readonly label: string; readonly consumed: DeliveryConsumption }>>;

/** Returns the cost of the table in dollars per million events or deliveries. */
export function deliveryTableDollars({ read, written }: Pick<DeliveryConsumption, 'read' | 'written'>): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}

/** The cost of a million events or deliveries in dollars, by what AWS bills. */
export interface DeliveryCost {
  readonly table: number;
  readonly queue: number;
  readonly functions: number;
  readonly logs: number;
  /** The requests to receivers, which leave AWS. */
  readonly dataOut: number;
  readonly total: number;
}

/** Returns the cost of a million events or deliveries in dollars. Starts of instances are rare in a worker and not included. */
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

/** Returns the cost of table, SQS and functions in dollars per million events or deliveries. The goals of the benches name it. */
export function deliveryDollars(consumed: DeliveryConsumption): number {
  const { table, queue, functions } = deliveryCost(consumed);
  return table + queue + functions;
}
