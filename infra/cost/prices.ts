/** List prices of us-east-1 without free tiers, from aws.amazon.com/<service>/pricing in November 2026. */
export const prices = {
  /** A million requests of up to 512 KB. A larger request counts as several. */
  httpRequests: 1.0,
  /** On arm64: a million runs, and a gigabyte of memory for a second. */
  lambdaRuns: 0.2,
  lambdaGigabyteSecond: 0.0000133334,
  /**
   * On demand: a million units read, a million units written, a gigabyte-month of storage, and a gigabyte-month of
   * point-in-time recovery.
   */
  tableRead: 0.125,
  tableWritten: 0.625,
  tableGigabyte: 0.25,
  backupGigabyte: 0.2,
  schedules: 1.0,
  /**
   * A gigabyte written, and a gigabyte searched. Source: AWS's cost model of 20 August 2026 (`VectorWriteRequest`,
   * `VectorSearch`) in github.com/aws/agent-toolkit-for-aws, skill amazon-dynamodb, references/vector-search.md.
   */
  vectorsWritten: 0.52,
  vectorsSearched: 0.002,
  queueRequests: 0.4,
  /** AppSync Events: a million operations, and a million minutes of connections. */
  eventOperations: 1.0,
  connectionMinutes: 0.08,
  secret: 0.4,
  /** A month: a metric in an alarm, a composite alarm, a custom metric that is written, a dashboard. */
  alarmMetric: 0.1,
  compositeAlarm: 0.5,
  metric: 0.3,
  dashboard: 3.0,
  /** A million metrics that GetMetricData returns. */
  metricsRead: 10,
  logGigabyte: 0.5,
  /** A gigabyte to the internet, of the first 10 TB in a month. Data to AWS costs nothing. */
  dataOutGigabyte: 0.09,
  /** A million mails of SES, of up to 64 KB each. */
  mails: 100,
} as const;

export const MILLION = 1_000_000;
export const MINUTES_PER_MONTH = 730 * 60;

export function lambdaDollars(runs: number, milliseconds: number, memoryMb = 512): number {
  return (
    (runs / MILLION) * prices.lambdaRuns +
    runs * (milliseconds / 1000) * (memoryMb / 1024) * prices.lambdaGigabyteSecond
  );
}

export function startDollars(starts: number, milliseconds: number, memoryMb = 512): number {
  return starts * (milliseconds / 1000) * (memoryMb / 1024) * prices.lambdaGigabyteSecond;
}

export function byteDollars(bytes: number, pricePerGigabyte: number): number {
  return (bytes / 2 ** 30) * pricePerGigabyte;
}

export function tableDollars({ read, written }: { readonly read: number; readonly written: number }): number {
  return (read * prices.tableRead + written * prices.tableWritten) / MILLION;
}
