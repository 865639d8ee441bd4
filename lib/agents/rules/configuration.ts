import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { ApiError, type Issue } from '../../shared/errors.ts';
import { Id, Name, OpenObject, optional, Text } from '../../shared/schema.ts';
import { hideSecrets, keepSecrets, type Path } from './secrets.ts';
import { behaviourShape, openFields, type OpenKeys } from './shapes.ts';

/** How large what one version says may be as JSON, the agent's name and description included. */
export const VERSION_BYTES = 256 * 1024;
/** The same of its secrets: encrypted they lie beside it, in an item of at most 400 KB. */
const SECRET_BYTES = 64 * 1024;

/** Fields of an agent itself, which are the same in all of its versions. */
const identityFields = ['name', 'description', 'enabled'] as const;
/** Fields that the service makes: what is sent of them says nothing. */
const generatedFields = [
  'id',
  'agentId',
  'apiKey',
  'version',
  'createdAt',
  'updatedAt',
  'executionCount',
  'lastExecutedAt',
  'system',
] as const;
const reservedMetadata = ['type', 'category', 'internal', 'apiKey'] as const;

/** What an agent does: the documented fields, and whatever else was sent (spec 4.10). `metadata` is beside it. */
export type Behaviour = OpenKeys;

/** The keys of an agent that is sent which only the service may set, as paths. */
export function serverManagedKeys(sent: OpenKeys): string[][] {
  const { metadata } = sent;
  const reserved =
    typeof metadata === 'object' && metadata !== null
      ? reservedMetadata.filter((key) => Object.hasOwn(metadata, key)).map((key) => ['metadata', key])
      : [];
  return [...(Object.hasOwn(sent, 'managedBy') ? [['managedBy']] : []), ...reserved];
}

const SERVER_MANAGED = 'is a server-managed field and cannot be set via the API.';

/** INVALID_ARGUMENT that says of each of these keys that it is the service's. */
export function refuseKeys(paths: readonly (readonly string[])[]): void {
  const [first, ...others] = paths.map((path): Issue => ({
    path: [...path],
    code: 'server_managed',
    message: `${path.join('.')} ${SERVER_MANAGED}`,
  }));
  if (!first) return;
  const issues = [first, ...others];
  throw new ApiError('INVALID_ARGUMENT', issues.map(({ message }) => message).join(' '), { details: { issues } });
}

interface Problem {
  readonly path: Path;
  readonly message: string;
}

interface Known {
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

/** What is wrong with an agent as a whole, whose fields are right one by one. */
export function checkAgent(behaviour: Behaviour, metadata: unknown = {}): Problem[] {
  const { contextGathering = {}, execution = {} } = behaviour as Known;
  const restApi = contextGathering.strategyOptions?.['rest-api'];
  const strategy = execution.executionStrategy ?? 'ai';
  const problems: Problem[] = [];
  if (contextGathering.strategies?.includes('rest-api') && !restApi) {
    problems.push({
      path: ['contextGathering', 'strategyOptions', 'rest-api'],
      message: 'is required when strategies include rest-api',
    });
  }
  if (strategy.startsWith('service') && execution.serviceId === undefined)
    problems.push({ path: ['execution', 'serviceId'], message: `is required when executionStrategy is ${strategy}` });
  if (strategy === 'mcp-tools' && !execution.mcpServers?.length)
    problems.push({
      path: ['execution', 'mcpServers'],
      message: 'is required when executionStrategy is mcp-tools: at least one server',
    });
  problems.push(
    ...repeatedIds(execution.mcpServers, ['execution', 'mcpServers']),
    ...repeatedIds(restApi?.endpoints, ['contextGathering', 'strategyOptions', 'rest-api', 'endpoints']),
  );
  // As it is stored: what stands where a secret was can be longer than the secret.
  const { shown, secrets } = hideSecrets(behaviour);
  if (isLongerThan(JSON.stringify([shown, metadata]), VERSION_BYTES))
    problems.push({ path: [], message: `must be at most ${VERSION_BYTES} bytes as JSON, what is stored included` });
  if (isLongerThan(JSON.stringify(secrets), SECRET_BYTES))
    problems.push({ path: [], message: `must have at most ${SECRET_BYTES} bytes of secrets` });
  return problems;
}

/** Items that have the id of an earlier one: what belongs to which of them could not be told. */
function repeatedIds(items: readonly OpenKeys[] = [], at: Path): Problem[] {
  const ids = items.map(({ id }) => id);
  return ids.flatMap((id, index) =>
    id !== undefined && ids.indexOf(id) < index
      ? [{ path: [...at, index, 'id'], message: 'must not be that of another item' }]
      : [],
  );
}

function problemsAsIssues(problems: readonly Problem[]) {
  return problems.map(({ path, message }) => ({ code: 'custom' as const, input: undefined, path: [...path], message }));
}

const agentShape = {
  name: Name,
  description: optional(Text),
  enabled: optional(z.boolean()),
  metadata: optional(OpenObject),
  ...behaviourShape,
};

/** An agent as a call sends it, whose fields are right; keys that only the service may set are refused by `refuseKeys`. */
export const SentAgent = openFields(agentShape, VERSION_BYTES).check(({ value, issues }) => {
  const behaviour = behaviourOf(value);
  issues.push(
    ...problemsAsIssues([...checkAgent(behaviour, value.metadata), ...notStored(keepSecrets(behaviour).missing)]),
  );
});

/** What `/v2/agents/create` takes as it is (spec 4.10). */
export const CreateAgent = SentAgent.check(({ value, issues }) => {
  issues.push(...problemsAsIssues(serverManagedKeys(value).map((path) => ({ path, message: SERVER_MANAGED }))));
});
export type CreateAgent = z.output<typeof CreateAgent>;

/** A change of what an agent does, which makes a new version: any of the fields. */
export const SentVersion = openFields(
  { agentId: Id, metadata: optional(OpenObject), ...behaviourShape },
  VERSION_BYTES,
);
export type SentVersion = z.output<typeof SentVersion>;
/** The documented fields of which a change sends one at least. */
export const versionFields: readonly string[] = ['metadata', ...Object.keys(behaviourShape)];

/** What one version says, its secrets in their places. */
export interface Version {
  readonly behaviour: Behaviour;
  readonly metadata: OpenKeys | undefined;
}

/**
 * What the version after the stored one says when this is sent: each block merged key by key, what is nested deeper replaced as a whole, `metadata`
 * replaced. `__redacted__` keeps the secret that is stored in its place.
 */
export function versionAfter(stored: Version) {
  return z.custom<SentVersion>().transform((sent, { issues }): Version => {
    const { kept, missing } = keepSecrets(behaviourOf(sent), stored.behaviour);
    const after = { behaviour: mergeBlocks(stored.behaviour, kept), metadata: sent.metadata ?? stored.metadata };
    issues.push(...problemsAsIssues([...notStored(missing), ...checkAgent(after.behaviour, after.metadata)]));
    return after;
  });
}

function mergeBlocks(stored: Behaviour, sent: Behaviour): Behaviour {
  const merged = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(sent)) {
    const before = merged.get(key);
    merged.set(
      key,
      isBlock(before) && isBlock(value)
        ? Object.fromEntries([
            ...Object.entries(before),
            ...Object.entries(value).filter(([, inner]) => inner !== undefined),
          ])
        : value,
    );
  }
  return Object.fromEntries(merged);
}

function isBlock(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notStored(paths: readonly Path[]): Problem[] {
  return paths.map((path) => ({ path, message: 'must be a secret: nothing is stored here that could be kept' }));
}

const otherFields: ReadonlySet<string> = new Set([...identityFields, ...generatedFields, 'managedBy', 'metadata']);

/** What of a sent agent is its behaviour: all but its identity, its metadata and what the service makes itself. */
export function behaviourOf(sent: OpenKeys): Behaviour {
  return Object.fromEntries(
    Object.entries(sent).filter(([key, value]) => value !== undefined && !otherFields.has(key)),
  );
}
