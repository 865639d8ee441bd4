/**
 * List prices of us-east-1 in dollars, without the free tiers, as the pricing pages of AWS had them in November 2026 (aws.amazon.com/<service>/pricing).
 * Everything here that speaks of money takes them from this table.
 */
export const prices = {
  /** HTTP API, a million requests; of up to 512 KB each, a larger one counts as several. */
  httpRequests: 1.0,
  /** Lambda on arm64: a million runs, and a second of a gigabyte. */
  lambdaRuns: 0.2,
  lambdaGigabyteSecond: 0.0000133334,
  /** DynamoDB on demand: a million units read and written, a gigabyte for a month, and the same for point-in-time recovery. */
  tableRead: 0.125,
  tableWritten: 0.625,
  tableGigabyte: 0.25,
  backupGigabyte: 0.2,
  /** SQS, a million requests of standard queues. */
  queueRequests: 0.4,
  /** Secrets Manager, a secret for a month. */
  secret: 0.4,
  /** CloudWatch, a month: a metric that an alarm watches, a metric of one's own in the months in which it is written, a dashboard of more than 50 metrics. */
  alarmMetric: 0.1,
  metric: 0.3,
  dashboard: 3.0,
  /** CloudWatch Logs, a gigabyte taken in. */
  logGigabyte: 0.5,
} as const;

export const MILLION = 1_000_000;
export const MINUTES_PER_MONTH = 730 * 60;

/** What runs of a function cost: how many, how long each, with how much memory. */
export function lambdaDollars(runs: number, milliseconds: number, memoryMb = 512): number {
  return (
    (runs / MILLION) * prices.lambdaRuns +
    runs * (milliseconds / 1000) * (memoryMb / 1024) * prices.lambdaGigabyteSecond
  );
}

/** What units of the table cost. */
export function tableDollars({ read, written }: { readonly read: number; readonly written: number }): number {
  return (read * prices.tableRead + written * prices.tableWritten) / MILLION;
}
