/**
 * What a function may touch. A capability names the grants (they become IAM statements), the environment variables
 * (they become the function's environment) and how to open the object that `run` gets. Capabilities are imported
 * objects, not names in a map, so that a bundle contains only the adapters that its endpoint uses.
 */

export const indexNames = ['gsi1', 'gsi2', 'gsi3', 'gsi4'] as const;
export type IndexName = (typeof indexNames)[number];

/** Everything in the stack that a function can be granted something on. */
export type Grant =
  | { resource: 'table'; actions: readonly TableAction[] }
  | { resource: `index/${IndexName}`; actions: readonly 'Query'[] }
  | { resource: SecretName; actions: readonly 'GetSecretValue'[] };

export type TableAction = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem';
export type SecretName = 'secret/masterKey' | 'secret/signingKey';
export type ResourceName = Grant['resource'];

/** The environment variables that the stack can give to a function; `infra/environment.ts` says where each value comes from. */
export type EnvironmentName =
  | 'SERVICE_NAME'
  | 'TABLE_NAME'
  | 'MASTER_KEY_SECRET_ARN'
  | 'SIGNING_KEY_SECRET_ARN'
  | 'UNVERIFIED_GRACE_DAYS'
  | 'WORKSPACE_CREATION'
  | 'WORKSPACE_CREATION_PER_MINUTE';

export type Environment = Readonly<Record<EnvironmentName, string>>;

export interface Capability<T> {
  readonly grants: readonly Grant[];
  readonly env: readonly EnvironmentName[];
  /** Called once per process, at the first request that needs it; never at import. */
  open(env: Environment): T;
}

export type Uses = Readonly<Record<string, Capability<unknown>>>;

/** The opened objects of a record of capabilities. */
export type Opened<U extends Uses> = { readonly [K in keyof U]: U[K] extends Capability<infer T> ? T : never };

/** An environment whose missing variables fail by name when they are read, and not as `undefined` somewhere later. */
export function environment(source: Record<string, string | undefined>): Environment {
  return new Proxy({} as Environment, {
    get(_target, name) {
      const value = source[name as string];
      if (value === undefined) throw new Error(`Environment variable ${String(name)} is not set`);
      return value;
    },
  });
}

/** The union of several lists of grants: one entry per resource, each action once, in a stable order. */
export function mergeGrants(grants: Iterable<Grant>): { resource: ResourceName; actions: string[] }[] {
  const byResource = new Map<ResourceName, Set<string>>();
  for (const grant of grants) {
    const actions = byResource.get(grant.resource) ?? new Set();
    for (const action of grant.actions) actions.add(action);
    byResource.set(grant.resource, actions);
  }
  return [...byResource].sort(([a], [b]) => (a < b ? -1 : 1)).map(([resource, actions]) => ({ resource, actions: [...actions].sort() }));
}
