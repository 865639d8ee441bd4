/**
 * The list prices of us-east-1 in dollars, without free tiers. Source: the pricing pages of AWS in November 2026
 * (aws.amazon.com/<service>/pricing).
 */
export const prices = {
  /** HTTP API: a million requests of up to 512 KB. A larger request counts as several. */
  httpRequests: 1.0,
  /** Lambda on arm64: a million runs, and one gigabyte of memory for one second. */
  lambdaRuns: 0.2,
  lambdaGigabyteSecond: 0.0000133334,
  /**
   * DynamoDB on demand: a million units read, a million units written, a gigabyte-month of storage, and a
   * gigabyte-month of point-in-time recovery.
   */
  tableRead: 0.125,
  tableWritten: 0.625,
  tableGigabyte: 0.25,
  backupGigabyte: 0.2,
  /** EventBridge Scheduler: a million calls of targets. */
  schedules: 1.0,
  /**
   * DynamoDB vector indexes: a gigabyte written, and a gigabyte searched. Source: AWS's cost model of 20 August 2026,
   * which names its price list (`VectorWriteRequest` and `VectorSearch`, table class Standard):
   * github.com/aws/agent-toolkit-for-aws, skill amazon-dynamodb, references/vector-search.md.
   */
  vectorsWritten: 0.52,
  vectorsSearched: 0.002,
  /** SQS: a million requests of standard queues. */
  queueRequests: 0.4,
  /** AppSync Events: a million operations, and a million minutes of connections. */
  eventOperations: 1.0,
  connectionMinutes: 0.08,
  /** Secrets Manager: a secret for a month. */
  secret: 0.4,
  /**
   * CloudWatch, per month: a metric in an alarm, a composite alarm, a custom metric that is written, and a dashboard of
   * more than 50 metrics.
   */
  alarmMetric: 0.1,
  compositeAlarm: 0.5,
  metric: 0.3,
  dashboard: 3.0,
  /** CloudWatch: a million metrics that GetMetricData returns. */
  metricsRead: 10,
  /** CloudWatch Logs: a gigabyte ingested. */
  logGigabyte: 0.5,
  /** Data from AWS to the internet: a gigabyte of the first 10 TB in a month. Data to AWS costs nothing. */
  dataOutGigabyte: 0.09,
  /** Amazon SES: a million mails of up to 64 KB each. A gigabyte of attachments costs $0.12, but our mails have none. */
  mails: 100,
} as const;

export const MILLION = 1_000_000;
export const MINUTES_PER_MONTH = 730 * 60;

/** Returns the cost of function runs in dollars. `milliseconds` is the duration of one run. */
export function lambdaDollars(runs: number, milliseconds: number, memoryMb = 512): number {
  return (
    (runs / MILLION) * prices.lambdaRuns +
    runs * (milliseconds / 1000) * (memoryMb / 1024) * prices.lambdaGigabyteSecond
  );
}

/**
 * Returns the cost of starting function instances in dollars. Lambda bills the time of a start like the time of a run.
 * `milliseconds` is the duration of one start.
 */
export function startDollars(starts: number, milliseconds: number, memoryMb = 512): number {
  return starts * (milliseconds / 1000) * (memoryMb / 1024) * prices.lambdaGigabyteSecond;
}

/** Returns the cost of bytes in dollars. `price` is the price of a gigabyte. */
export function byteDollars(bytes: number, pricePerGigabyte: number): number {
  return (bytes / 2 ** 30) * pricePerGigabyte;
}

/** Returns the cost of capacity units in dollars. */
export function tableDollars({ read, written }: { readonly read: number; readonly written: number }): number {
  return (read * prices.tableRead + written * prices.tableWritten) / MILLION;
}
