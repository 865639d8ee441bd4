/**
 * A capability is something that a function may use, such as a store. `grants` become statements of the function's
 * role, and `env` its variables. A declaration imports its capabilities as objects, so a bundle contains only the
 * clients that its function uses.
 */

export const indexNames = ['gsi1', 'gsi2', 'gsi3', 'gsi4'] as const;
export type IndexName = (typeof indexNames)[number];

export const vectorIndexNames = ['review', 'content'] as const;
export type VectorIndexName = (typeof vectorIndexNames)[number];

export type IamGrant =
  | { resource: 'table'; actions: readonly TableAction[] }
  | { resource: `index/${IndexName}`; actions: readonly 'Query'[] }
  | { resource: `index/${VectorIndexName}`; actions: readonly 'SearchVectors'[] }
  | { resource: `model/${ModelName}`; actions: readonly 'InvokeModel'[] }
  | { resource: SecretName; actions: readonly 'GetSecretValue'[] }
  | { resource: `queue/${QueueName}`; actions: readonly QueueAction[] }
  | { resource: 'mail/identity'; actions: readonly 'SendEmail'[] }
  | { resource: 'live/channels'; actions: readonly 'EventPublish'[] };

export type TableAction =
  'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem';
export type QueueName = 'deliver' | 'deliverSlow' | 'mail' | 'jobs' | 'embed' | 'sweep';
export type QueueAction = 'GetQueueAttributes' | 'SendMessage';
export type ModelName = 'embedding' | 'claude' | 'nova';
export type SecretName =
  'secret/heartbeat' | 'secret/liveKey' | 'secret/masterKey' | 'secret/permissionKey' | 'secret/signingKey';
export type ResourceName = IamGrant['resource'];

export type EnvironmentName =
  | 'CALL_BURST_SECONDS'
  | 'CLAUDE_MODEL_ID'
  | 'DELIVER_QUEUE_URL'
  | 'DELIVER_SLOW_QUEUE_URL'
  | 'DUE_MARGIN_SECONDS'
  | 'EMAIL_STATUS_PER_MINUTE_PER_ADDRESS'
  | 'EMAIL_STATUS_PER_MINUTE_PER_EMAIL'
  | 'EMBEDDING_MODEL'
  | 'EMBED_QUEUE_URL'
  | 'EXPENSIVE_CALLS_PER_SECOND_PER_KEY'
  | 'HEARTBEAT_SECRET_ARN'
  | 'JOBS_QUEUE_URL'
  | 'LIVE_HTTP_HOST'
  | 'LIVE_KEY_SECRET_ARN'
  | 'LIVE_REALTIME_HOST'
  | 'LOGIN_LINKS_PER_HOUR_PER_EMAIL'
  | 'MAILS_PER_RECIPIENT_PER_HOUR'
  | 'MAILS_PER_WRITER_PER_HOUR'
  | 'MAIL_FROM'
  | 'MAIL_QUEUE_URL'
  | 'MAIL_RETRY_SCHEDULE'
  | 'NOVA_MODEL_ID'
  | 'PERMISSION_KEY_SECRET_ARN'
  | 'PUBLIC_URL'
  | 'READS_PER_SECOND_PER_KEY'
  | 'RECONCILE_AFTER_SECONDS'
  | 'SERVICE_NAME'
  | 'SWEEP_QUEUE_URL'
  | 'TABLE_NAME'
  | 'MASTER_KEY_SECRET_ARN'
  | 'SIGNING_KEY_SECRET_ARN'
  | 'SLACK_API_URL'
  | 'UNVERIFIED_GRACE_DAYS'
  | 'WEBHOOK_RETRY_SCHEDULE'
  | 'WORKSPACE_CREATION'
  | 'WORKSPACE_CREATION_PER_MINUTE'
  | 'WRITES_PER_SECOND_PER_KEY';

export type Environment = Readonly<Record<EnvironmentName, string>>;

export interface Capability<T> {
  readonly grants: readonly IamGrant[];
  readonly env: readonly EnvironmentName[];
  /** A process calls this method at its first request or message. */
  open(env: Environment): T;
}

export type Uses = Readonly<Record<string, Capability<unknown>>>;

export type Opened<U extends Uses> = { readonly [K in keyof U]: U[K] extends Capability<infer T> ? T : never };

export function openAll<U extends Uses>(uses: U, env: Environment): Opened<U> {
  const opened = Object.entries<Capability<unknown>>(uses).map(
    ([name, capability]) => [name, capability.open(env)] as const,
  );
  return Object.fromEntries(opened) as Opened<U>;
}

/**
 * Returns one capability made of several. It has the grants and environment variables of all of them. `open` gets the opened
 * parts and returns the object that `run` gets. Without `open`, that object is the record of the opened parts.
 *
 * Mark every call at the top level of a module with the comment `@__PURE__`. Otherwise esbuild keeps the call, and everything
 * that the call names, in every bundle that imports the module.
 */
export function combine<U extends Uses>(parts: U): Capability<Opened<U>>;
export function combine<U extends Uses, T>(
  parts: U,
  open: (opened: Opened<U>, env: Environment) => T,
  env?: readonly EnvironmentName[],
): Capability<T>;
export function combine<U extends Uses>(
  parts: U,
  open: (opened: Opened<U>, env: Environment) => unknown = (opened) => opened,
  env: readonly EnvironmentName[] = [],
): Capability<unknown> {
  const capabilities = Object.values(parts);
  return {
    grants: capabilities.flatMap(({ grants }) => grants),
    env: [...env, ...capabilities.flatMap((part) => part.env)],
    open: (values) => open(openAll(parts, values), values),
  };
}

export function environment(source: Record<string, string | undefined>): Environment {
  return new Proxy({} as Environment, {
    get(_target, name) {
      const value = source[name as string];
      if (value === undefined) throw new Error(`Environment variable ${String(name)} is not set`);
      return value;
    },
    has: (_target, name) => source[name as string] !== undefined,
  });
}

export type LocalVariable = 'ALLOW_LOOPBACK_DELIVERY' | 'EDITOR_VERSIONS_IN_SECONDS' | 'STRICT_OUTPUT';

export type RuntimeVariable =
  'AWS_ACCESS_KEY_ID' | 'AWS_ENDPOINT_URL_APPSYNC' | 'AWS_REGION' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN';

export function optionalVariable(env: Environment, name: LocalVariable | RuntimeVariable): string | undefined {
  return name in env ? (env as Readonly<Record<string, string>>)[name] : undefined;
}

export function mergeGrants(grants: Iterable<IamGrant>): { resource: ResourceName; actions: string[] }[] {
  const byResource = new Map<ResourceName, Set<string>>();
  for (const grant of grants) {
    const actions = byResource.get(grant.resource) ?? new Set();
    for (const action of grant.actions) actions.add(action);
    byResource.set(grant.resource, actions);
  }
  return [...byResource]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, actions]) => ({ resource, actions: [...actions].sort() }));
}
