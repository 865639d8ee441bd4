/**
 * The defaults in us-east-1, from the documentation of AWS in November 2026. A few other regions and new accounts may
 * start with lower quotas.
 */

export interface Quota {
  readonly limit: number;
  /** Whether AWS raises the quota on request. */
  readonly adjustable: boolean;
  readonly source: string;
}

const docs = 'https://docs.aws.amazon.com';
const lambda = `${docs}/lambda/latest/dg`;
const dynamoDb = `${docs}/amazondynamodb/latest/developerguide`;
const logs = `${docs}/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html`;
const appSync = `${docs}/general/latest/gr/appsync.html`;

export const quotas = {
  /** Per second, to all APIs of an account in a region. */
  gatewayRequests: { limit: 10_000, adjustable: true, source: `${docs}/apigateway/latest/developerguide/limits.html` },
  concurrency: { limit: 1_000, adjustable: true, source: `${lambda}/gettingstarted-limits.html` },
  /** Invocations per second for each concurrent execution in the quota of the account. */
  invocationsPerConcurrency: { limit: 10, adjustable: false, source: `${lambda}/lambda-concurrency.html` },
  /** Of one function, in ten seconds. */
  newEnvironments: { limit: 1_000, adjustable: false, source: `${lambda}/scaling-behavior.html` },
  queueConcurrency: { limit: 1_000, adjustable: false, source: `${lambda}/services-sqs-scaling.html` },
  /** Capacity units per second on demand. Each index of the table has the same quota. */
  tableRead: { limit: 40_000, adjustable: true, source: `${dynamoDb}/ServiceQuotas.html` },
  tableWritten: { limit: 40_000, adjustable: true, source: `${dynamoDb}/ServiceQuotas.html` },
  /** The limit of a table grows to twice its highest load so far. */
  newTableRead: { limit: 12_000, adjustable: false, source: `${dynamoDb}/on-demand-capacity-mode.html` },
  newTableWritten: { limit: 4_000, adjustable: false, source: `${dynamoDb}/on-demand-capacity-mode.html` },
  partitionRead: { limit: 3_000, adjustable: false, source: `${dynamoDb}/bp-partition-key-design.html` },
  partitionWritten: { limit: 1_000, adjustable: false, source: `${dynamoDb}/bp-partition-key-design.html` },
  /** Received and not yet deleted, in one standard queue. */
  messagesInFlight: {
    limit: 120_000,
    adjustable: true,
    source: `${docs}/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html`,
  },
  secretReads: {
    limit: 10_000,
    adjustable: false,
    source: `${docs}/secretsmanager/latest/userguide/reference_limits.html`,
  },
  /** Each read of a secret needs one operation of KMS, because Secrets Manager decrypts the secret. */
  keyOperations: {
    limit: 100_000,
    adjustable: true,
    source: `${docs}/kms/latest/developerguide/requests-per-second.html`,
  },
  logWrites: { limit: 5_000, adjustable: true, source: logs },
  logStreams: { limit: 50, adjustable: true, source: logs },
  metricWrites: {
    limit: 500,
    adjustable: true,
    source: `${docs}/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html`,
  },
  /** Events that an Event API receives, and messages that it sends to browsers, per second. */
  liveEvents: { limit: 10_000, adjustable: true, source: appSync },
  liveMessages: { limit: 1_000_000, adjustable: true, source: appSync },
  scheduledRuns: { limit: 18_750, adjustable: true, source: `${docs}/eventbridge/latest/userguide/eb-quota.html` },
} as const satisfies Readonly<Record<string, Quota>>;
