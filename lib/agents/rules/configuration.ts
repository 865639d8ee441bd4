import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { isObject } from '../../shared/collections.ts';
import { ApiError, type Issue } from '../../shared/errors.ts';
import { Id, Name, OpenObject, optional, Text } from '../../shared/schema.ts';
import { behaviourShape, identityTexts, openFields, type OpenKeys } from './behaviourShape.ts';
import { hideSecrets, keepSecrets, type Path } from './secrets.ts';

/** Bytes of a version as JSON. Name and description count if the request has them. */
export const VERSION_BYTES = 256 * 1024;
/** The item of a version has the encrypted secrets, and an item has at most 400 KB. */
const SECRET_BYTES = 64 * 1024;

const otherFields: ReadonlySet<string> = new Set([
  'name',
  'description',
  'enabled',
  'id',
  'agentId',
  'apiKey',
  'version',
  'createdAt',
  'updatedAt',
  'executionCount',
  'lastExecutedAt',
  'system',
  'managedBy',
  'metadata',
]);
const reservedMetadata = ['type', 'category', 'internal', 'apiKey'] as const;

export type Behaviour = OpenKeys;

/** Secrets are in clear text. */
export interface Version {
  readonly behaviour: Behaviour;
  readonly metadata: OpenKeys | undefined;
}

export function behaviourOf(sent: OpenKeys): Behaviour {
  return Object.fromEntries(
    Object.entries(sent).filter(([key, value]) => value !== undefined && !otherFields.has(key)),
  );
}

export function serverManagedKeys(sent: OpenKeys): string[][] {
  const { metadata } = sent;
  const reserved = isObject(metadata) ? reservedMetadata.filter((key) => Object.hasOwn(metadata, key)) : [];
  return [...(Object.hasOwn(sent, 'managedBy') ? [['managedBy']] : []), ...reserved.map((key) => ['metadata', key])];
}

const SERVER_MANAGED = 'is a server-managed field and cannot be set via the API.';

export function refuseKeys(paths: readonly (readonly string[])[]): void {
  if (paths.length === 0) return;
  const issues = paths.map((path): Issue => ({
    path: [...path],
    code: 'server_managed',
    message: `${path.join('.')} ${SERVER_MANAGED}`,
  }));
  throw new ApiError('INVALID_ARGUMENT', issues.map(({ message }) => message).join(' '), { details: { issues } });
}

interface Problem {
  readonly path: Path;
  readonly message: string;
}

interface CheckedFields {
  readonly contextGathering?: {
    readonly strategies?: readonly string[];
    readonly strategyOptions?: { readonly 'rest-api'?: { readonly endpoints: readonly OpenKeys[] } };
  };
  readonly execution?: {
    readonly executionStrategy?: string;
    readonly serviceId?: string;
    readonly mcpServers?: readonly OpenKeys[];
  };
}

function checkAgent(behaviour: Behaviour, metadata: unknown = {}): Problem[] {
  const { contextGathering = {}, execution = {} } = behaviour as CheckedFields;
  const { executionStrategy: strategy = 'ai', serviceId, mcpServers = [] } = execution;
  const restApi = contextGathering.strategyOptions?.['rest-api'];
  const restApiPath = ['contextGathering', 'strategyOptions', 'rest-api'];
  const serversPath = ['execution', 'mcpServers'];
  // The redacted text is stored, and `__redacted__` can be longer than the secret.
  const { redacted, secrets } = hideSecrets(behaviour);
  const checks: readonly (readonly [isBroken: boolean, path: Path, message: string])[] = [
    [
      contextGathering.strategies?.includes('rest-api') === true && !restApi,
      restApiPath,
      'is required when strategies include rest-api',
    ],
    [
      strategy.startsWith('service') && serviceId === undefined,
      ['execution', 'serviceId'],
      `is required when executionStrategy is ${strategy}`,
    ],
    [
      strategy === 'mcp-tools' && mcpServers.length === 0,
      serversPath,
      'is required when executionStrategy is mcp-tools: at least one server',
    ],
    ...repeatedIds(mcpServers, serversPath),
    ...repeatedIds(restApi?.endpoints, [...restApiPath, 'endpoints']),
    [
      isLongerThan(JSON.stringify([redacted, metadata]), VERSION_BYTES),
      [],
      `must be at most ${VERSION_BYTES} bytes as JSON, together with the stored fields`,
    ],
    [isLongerThan(JSON.stringify(secrets), SECRET_BYTES), [], `must have at most ${SECRET_BYTES} bytes of secrets`],
  ];
  return checks.flatMap(([isBroken, path, message]) => (isBroken ? [{ path, message }] : []));
}

/** In a list item, `__redacted__` keeps the secret of the stored item with the same id, so ids must be unique. */
function repeatedIds(items: readonly OpenKeys[] = [], path: Path): [boolean, Path, string][] {
  const ids = items.map(({ id }) => id);
  return ids.map((id, index) => [
    id !== undefined && ids.indexOf(id) < index,
    [...path, index, 'id'],
    'must be unique in the list',
  ]);
}

function missingSecrets(paths: readonly Path[]): Problem[] {
  return paths.map((path) => ({ path, message: 'must be a secret: there is no stored secret to keep' }));
}

function toIssues(problems: readonly Problem[]) {
  return problems.map(({ path, message }) => ({ code: 'custom' as const, input: undefined, path: [...path], message }));
}

const versionShape = {
  metadata: optional(OpenObject).describe(
    'Your own data, returned as sent. `type`, `category`, `internal` and `apiKey` in it are refused. A change without it keeps the stored data.',
  ),
  ...behaviourShape,
};

/** Accepts the fields that only the service may set. `refuseKeys` rejects them with its own form of error. */
export const SentAgent = openFields(
  {
    name: Name.describe(identityTexts.name),
    description: optional(Text).describe(identityTexts.description),
    enabled: optional(z.boolean()).describe(`${identityTexts.enabled} The default is true.`),
    ...versionShape,
  },
  VERSION_BYTES,
).check(({ value, issues }) => {
  const behaviour = behaviourOf(value);
  const { missingPaths } = keepSecrets(behaviour);
  issues.push(...toIssues([...checkAgent(behaviour, value.metadata), ...missingSecrets(missingPaths)]));
});

export const CreateAgent = SentAgent.check(({ value, issues }) => {
  issues.push(...toIssues(serverManagedKeys(value).map((path) => ({ path, message: SERVER_MANAGED }))));
});

/** A change that makes a new version. It must have at least one of `versionFields`. */
export const SentVersion = openFields({ agentId: Id, ...versionShape }, VERSION_BYTES);
export const versionFields: readonly string[] = Object.keys(versionShape);

/**
 * Returns a schema that turns a change into the version after `stored`. Sent keys of an object of the behaviour replace
 * stored keys, and other keys stay. Deeper objects and the metadata are replaced as a whole. `__redacted__` keeps the
 * stored secret.
 */
export function versionAfter(stored: Version) {
  return z.custom<z.output<typeof SentVersion>>().transform((sent, { issues }): Version => {
    const { configuration, missingPaths } = keepSecrets(behaviourOf(sent), stored.behaviour);
    const behaviour = mergeBlocks(stored.behaviour, configuration);
    const metadata = sent.metadata ?? stored.metadata;
    issues.push(...toIssues([...missingSecrets(missingPaths), ...checkAgent(behaviour, metadata)]));
    return { behaviour, metadata };
  });
}

function mergeBlocks(stored: Behaviour, sent: Behaviour): Behaviour {
  const merged = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    const before = merged.get(key);
    merged.set(key, isObject(before) && isObject(value) ? mergeKeys(before, value) : value);
  }
  return Object.fromEntries(merged);
}

/** `Object.fromEntries` keeps a key `__proto__`. An assignment would set the prototype. */
function mergeKeys(before: object, sent: object): OpenKeys {
  const changed = Object.entries(sent).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...Object.entries(before), ...changed]);
}
