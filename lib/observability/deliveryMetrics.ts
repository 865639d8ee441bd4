/**
 * Metrics of deliveries, mails, pushes and heartbeats. CloudWatch charges for each combination of metric and
 * dimensions, so they are few, and `service` is their only dimension.
 */
interface MetricDeclaration {
  /**
   * `sum` counts events. `spread` records durations, shown as percentiles. `gauge` is a level, not written while it is
   * zero.
   */
  readonly kind: 'sum' | 'spread' | 'gauge';
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  readonly row: 'Deliveries' | 'E-mail' | 'Health' | 'Live';
  /** Metrics of one row with the same title share a graph. */
  readonly graph: string;
  readonly label: string;
  readonly meaning: string;
}

export const deliveryMetrics = {
  WebhookAttemptsDelivered: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'delivered',
    meaning: 'Attempts that the receiver answered with 2xx',
  },
  WebhookAttemptsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'failed',
    meaning: 'Attempts that got another status, or whose connection failed',
  },
  WebhookAttemptsTimedOut: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'timed out',
    meaning: 'Attempts without a complete answer in time',
  },
  WebhookAttemptsRefused: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'refused',
    meaning: 'Attempts that were not made because the address is not allowed',
  },
  FirstAttemptLatency: {
    kind: 'spread',
    unit: 'Milliseconds',
    row: 'Deliveries',
    graph: 'Latency after commit, ms',
    label: 'first attempt',
    meaning: 'Time from the commit of an event to the first attempt of a delivery',
  },
  FanOutLatency: {
    kind: 'spread',
    unit: 'Milliseconds',
    row: 'Deliveries',
    graph: 'Latency after commit, ms',
    label: 'fan-out',
    meaning: 'Time from the commit of an event until all its deliveries are queued',
  },
  DeliveriesDue: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Deliveries due and overdue',
    label: 'due',
    meaning: 'Deliveries that a sweep found due',
  },
  DeliveriesOverdue: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Deliveries due and overdue',
    label: 'overdue',
    meaning: 'Deliveries that a sweep found due for so long that their queue message must be lost',
  },
  OldestOverdueDeliveryAge: {
    kind: 'gauge',
    unit: 'Seconds',
    row: 'Deliveries',
    graph: 'Oldest overdue delivery, s',
    label: 'age',
    meaning: 'Time for which the oldest overdue delivery has been due',
  },
  DuplicateMessages: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Duplicates and rate limits',
    label: 'duplicate messages',
    meaning: 'Messages about a delivery that another worker had already claimed',
  },
  RateLimitedDeliveries: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Duplicates and rate limits',
    label: 'rate-limited',
    meaning: 'Deliveries delayed by the rate limit of their endpoint',
  },
  CircuitBreakersOpened: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Circuit breakers',
    label: 'opened',
    meaning: 'Endpoints whose circuit breaker opened because attempts kept failing',
  },
  CircuitBreakersOpen: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Circuit breakers',
    label: 'open',
    meaning: 'Endpoints whose circuit breaker is open: deliveries to them wait',
  },
  DeliveriesParked: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Parked deliveries',
    label: 'parked',
    meaning: 'Deliveries that began to wait for an endpoint with an open circuit breaker',
  },
  DeliveriesReleased: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Parked deliveries',
    label: 'released',
    meaning: 'Parked deliveries that are attempted again because their endpoint answers',
  },
  EndpointsNearDisabling: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Disabled endpoints, exhausted deliveries',
    label: 'soon to be disabled',
    meaning: 'Endpoints that have failed for at least one day. After five days they are disabled',
  },
  EndpointsDisabled: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Disabled endpoints, exhausted deliveries',
    label: 'disabled',
    meaning: 'Endpoints that were disabled because every attempt failed for five days',
  },
  DeliveriesExhausted: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Disabled endpoints, exhausted deliveries',
    label: 'deliveries exhausted',
    meaning: 'Deliveries whose last attempt failed',
  },
  MailsSent: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'sent',
    meaning: 'Mails that the provider accepted',
  },
  MailsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'failed',
    meaning: 'Mails that the provider refused, or whose last attempt failed',
  },
  MailAttemptsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'failed attempts',
    meaning:
      'Attempts to send a mail that failed and will be repeated: the provider is down, or the operator must fix the settings',
  },
  MailOutcomesUnknown: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'unknown',
    meaning: 'Mails for which it is unknown whether the provider accepted them',
  },
  ChatMessagesSent: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Messages in Slack',
    label: 'sent',
    meaning: 'Direct messages and channel posts that Slack accepted',
  },
  ChatMessagesFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Messages in Slack',
    label: 'failed',
    meaning: 'Direct messages and channel posts that Slack refused, or whose last attempt failed',
  },
  ChatAttemptsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Messages in Slack',
    label: 'failed attempts',
    meaning: 'Attempts to send a message to Slack that failed and will be repeated: Slack is down',
  },
  ChatOutcomesUnknown: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Messages in Slack',
    label: 'unknown',
    meaning: 'Messages for which it is unknown whether Slack accepted them',
  },
  LivePushLatency: {
    kind: 'spread',
    unit: 'Milliseconds',
    row: 'Live',
    graph: 'Latency after commit, ms',
    label: 'push',
    meaning:
      'Time from the commit of a change until the push service has its hint. The stream rounds the time of a commit to seconds',
  },
  LivePublishesFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'Live',
    graph: 'Failed publishes',
    label: 'failed',
    meaning: 'Publishes that the push service did not accept, after all tries. Clients read the missed changes later',
  },
  HeartbeatsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'Health',
    graph: 'Failed heartbeats',
    label: 'failed',
    meaning: 'Heartbeats whose write or read through the public URL failed',
  },
} as const satisfies Readonly<Record<string, MetricDeclaration>>;

export type MetricName = keyof typeof deliveryMetrics;
type OfKind<Kind extends MetricDeclaration['kind']> = {
  [Name in MetricName]: (typeof deliveryMetrics)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type CountedMetric = OfKind<'sum'>;
export type RecordedMetric = OfKind<'spread' | 'gauge'>;
