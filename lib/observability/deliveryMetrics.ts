/**
 * The service's own metrics of deliveries and mail, declared once: workers measure them, the dashboard and the alarms read them. Each
 * costs money while it is written, hence only these, and no dimension but the service's name.
 */
interface MetricDeclaration {
  /** `sum`: things that happened, counted. `spread`: how long something took, shown by percentiles. `gauge`: how much there is now; not written at zero. */
  readonly kind: 'sum' | 'spread' | 'gauge';
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds';
  readonly row: 'Deliveries' | 'E-mail';
  /** The title of its graph; metrics of one row with the same title share it. */
  readonly graph: string;
  /** Its name in that graph. */
  readonly label: string;
  readonly meaning: string;
}

export const deliveryMetrics = {
  AttemptsDelivered: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'delivered',
    meaning: 'Attempts that the receiver answered with 2xx',
  },
  AttemptsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'failed',
    meaning: 'Attempts that the receiver refused, answered with another status or broke off',
  },
  AttemptsTimedOut: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'timed out',
    meaning: 'Attempts without a whole answer in time',
  },
  AttemptsRefused: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Attempts',
    label: 'refused',
    meaning: 'Attempts that were not made, because the address is not allowed',
  },
  CommitToFirstAttempt: {
    kind: 'spread',
    unit: 'Milliseconds',
    row: 'Deliveries',
    graph: 'From commit on, ms',
    label: 'first attempt',
    meaning: 'From the commit of an event to the first attempt of a delivery of it',
  },
  FanOutLag: {
    kind: 'spread',
    unit: 'Milliseconds',
    row: 'Deliveries',
    graph: 'From commit on, ms',
    label: 'fan-out',
    meaning: 'From the commit of an event until all deliveries of it are queued',
  },
  DeliveriesDue: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Due and overdue',
    label: 'due',
    meaning: 'Deliveries whose time has come',
  },
  DeliveriesOverdue: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Due and overdue',
    label: 'overdue',
    meaning: 'Deliveries whose time has come so long ago that their message must be lost',
  },
  OldestOverdue: {
    kind: 'gauge',
    unit: 'Seconds',
    row: 'Deliveries',
    graph: 'Oldest overdue, s',
    label: 'oldest',
    meaning: 'For how long the oldest overdue delivery waits',
  },
  ClaimsLost: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Duplicates and deferrals',
    label: 'duplicates absorbed',
    meaning: 'Messages about a delivery that another worker was already at',
  },
  SlotsDeferred: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Duplicates and deferrals',
    label: 'deferred by a rate limit',
    meaning: 'Deliveries put off by the rate limit of their endpoint',
  },
  BreakersOpened: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Breakers',
    label: 'opened',
    meaning: 'Endpoints that failed so often that deliveries to them pause',
  },
  BreakersOpen: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Breakers',
    label: 'open',
    meaning: 'Endpoints to which deliveries pause',
  },
  EndpointsNearDisable: {
    kind: 'gauge',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Endpoints given up',
    label: 'soon to be disabled',
    meaning: 'Endpoints that have failed for a day or more, and are disabled after five',
  },
  EndpointsDisabled: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Endpoints given up',
    label: 'disabled',
    meaning: 'Endpoints that were disabled after failing for five days',
  },
  DeliveriesExhausted: {
    kind: 'sum',
    unit: 'Count',
    row: 'Deliveries',
    graph: 'Endpoints given up',
    label: 'deliveries exhausted',
    meaning: 'Deliveries given up after their last attempt',
  },
  MailsSent: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'sent',
    meaning: 'Mails that the provider took',
  },
  MailsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'failed',
    meaning: 'Mails that the provider refused, or that were given up',
  },
  MailAttemptsFailed: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'attempts to be repeated',
    meaning:
      'Attempts to send a mail that failed and are repeated, because the provider is away or something is for the operator to put in order',
  },
  MailsUnknown: {
    kind: 'sum',
    unit: 'Count',
    row: 'E-mail',
    graph: 'Mails',
    label: 'unknown',
    meaning: 'Mails of which nobody knows whether the provider took them',
  },
} as const satisfies Readonly<Record<string, MetricDeclaration>>;

export type MetricName = keyof typeof deliveryMetrics;
type OfKind<Kind extends MetricDeclaration['kind']> = {
  [Name in MetricName]: (typeof deliveryMetrics)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

/** What is counted, and what is recorded as a value. */
export type CountedMetric = OfKind<'sum'>;
export type RecordedMetric = OfKind<'spread' | 'gauge'>;
