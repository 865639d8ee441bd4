/**
 * AWS quotas that limit the load. The values are the defaults in us-east-1, from the documentation of AWS in November
 * 2026. A few other regions and new accounts may start with lower quotas.
 */

export interface Quota {
  readonly limit: number;
  /** Whether AWS raises the quota on request. */
  readonly adjustable: boolean;
  /** The page of the AWS documentation that states the quota. */
  readonly source: string;
}

const docs = 'https://docs.aws.amazon.com';
const lambda = `${docs}/lambda/latest/dg`;
const dynamoDb = `${docs}/amazondynamodb/latest/developerguide`;
const logs = `${docs}/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html`;
const appSync = `${docs}/general/latest/gr/appsync.html`;

export const quotas = {
  /** Requests per second to all APIs of an account in a region. */
  gatewayRequests: { limit: 10_000, adjustable: true, source: `${docs}/apigateway/latest/developerguide/limits.html` },
  /** Concurrent executions of an account. */
  concurrency: { limit: 1_000, adjustable: true, source: `${lambda}/gettingstarted-limits.html` },
  /** Invocations per second that an account may make for each concurrent execution in its quota. */
  invocationsPerConcurrency: { limit: 10, adjustable: false, source: `${lambda}/lambda-concurrency.html` },
  /** New execution environments of one function that Lambda starts in ten seconds. */
  newEnvironments: { limit: 1_000, adjustable: false, source: `${lambda}/scaling-behavior.html` },
  /** Concurrent executions that Lambda starts for one queue. */
  queueConcurrency: { limit: 1_000, adjustable: false, source: `${lambda}/services-sqs-scaling.html` },
  /** Capacity units per second of an on-demand table. Each of its indexes has the same quota. */
  tableRead: { limit: 40_000, adjustable: true, source: `${dynamoDb}/ServiceQuotas.html` },
  tableWritten: { limit: 40_000, adjustable: true, source: `${dynamoDb}/ServiceQuotas.html` },
  /**
   * Capacity units per second of a new on-demand table. Later the limit of a table is twice its highest load so far.
   */
  newTableRead: { limit: 12_000, adjustable: false, source: `${dynamoDb}/on-demand-capacity-mode.html` },
  newTableWritten: { limit: 4_000, adjustable: false, source: `${dynamoDb}/on-demand-capacity-mode.html` },
  /** Capacity units per second of one partition. */
  partitionRead: { limit: 3_000, adjustable: false, source: `${dynamoDb}/bp-partition-key-design.html` },
  partitionWritten: { limit: 1_000, adjustable: false, source: `${dynamoDb}/bp-partition-key-design.html` },
  /** Messages of one standard queue that are received and not yet deleted. */
  messagesInFlight: {
    limit: 120_000,
    adjustable: true,
    source: `${docs}/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html`,
  },
  /** Calls of GetSecretValue per second. */
  secretReads: {
    limit: 10_000,
    adjustable: false,
    source: `${docs}/secretsmanager/latest/userguide/reference_limits.html`,
  },
  /**
   * Symmetric KMS operations per second. Each read of a secret needs one, because Secrets Manager decrypts the secret.
   */
  keyOperations: {
    limit: 100_000,
    adjustable: true,
    source: `${docs}/kms/latest/developerguide/requests-per-second.html`,
  },
  /** Calls of PutLogEvents and of CreateLogStream per second. */
  logWrites: { limit: 5_000, adjustable: true, source: logs },
  logStreams: { limit: 50, adjustable: true, source: logs },
  /** Calls of PutMetricData per second. */
  metricWrites: {
    limit: 500,
    adjustable: true,
    source: `${docs}/AmazonCloudWatch/latest/monitoring/cloudwatch_limits.html`,
  },
  /** Events per second that an Event API receives, and messages per second that it sends to browsers. */
  liveEvents: { limit: 10_000, adjustable: true, source: appSync },
  liveMessages: { limit: 1_000_000, adjustable: true, source: appSync },
  /** Invocations of rule targets per second. */
  scheduledRuns: { limit: 18_750, adjustable: true, source: `${docs}/eventbridge/latest/userguide/eb-quota.html` },
} as const satisfies Readonly<Record<string, Quota>>;
