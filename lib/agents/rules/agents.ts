import * as z from 'zod';
import { ApiError, invalid } from '../../shared/errors.ts';
import { AnyObject, defineNamedSchema, defineSchema } from '../../shared/schema.ts';
import { behaviourTexts, identityTexts, type OpenKeys } from './behaviourShape.ts';
import type { BuiltInAgent } from './builtIn.ts';
import { runCount, toRunCountResponse } from './runs.ts';

export const MAX_AGENTS = 1_000;

/** A custom agent: what all versions share, and the current version. Times are epoch ms. */
export const Agent = /* @__PURE__ */ defineSchema(() =>
  z.object({
    agentId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    enabled: z.boolean(),
    /** A copy of the current version's metadata as JSON text, so that lists need not read versions. */
    metadata: z.string().optional(),
    version: z.number(),
    /** A new version can reuse a number that a restore removed, but not an id. */
    versionId: z.string(),
    /** The call that restored the current version. Its repetition does not restore again. */
    restoredBy: z.string().optional(),
    createdAt: z.number(),
    updatedAt: z.number(),
    ...runCount,
  }),
);
export type Agent = z.output<typeof Agent>;

export const AgentVersion = /* @__PURE__ */ defineSchema(() =>
  z.object({
    version: z.number(),
    versionId: z.string(),
    /** JSON text. `__redacted__` replaces each secret. */
    behaviour: z.string(),
    metadata: z.string().optional(),
    /** Encrypted. */
    secrets: z.string().optional(),
    createdAt: z.number(),
  }),
);
export type AgentVersion = z.output<typeof AgentVersion>;

export const BuiltInChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    agentId: z.string(),
    enabled: z.boolean().optional(),
    updatedAt: z.number().optional(),
    ...runCount,
  }),
);
export type BuiltInChange = z.output<typeof BuiltInChange>;

export interface AgentWithVersion {
  readonly agent: Agent;
  readonly current: AgentVersion;
}

export function withVersion(agent: Agent, { version, versionId, metadata, createdAt }: AgentVersion): Agent {
  const { metadata: _, restoredBy: __, ...otherFields } = agent;
  return { ...otherFields, version, versionId, updatedAt: createdAt, ...(metadata !== undefined && { metadata }) };
}

/** A change of fields that all versions share. It makes no new version. */
export type IdentityChange = { readonly [K in 'name' | 'description' | 'enabled']?: Agent[K] | undefined };

export function changeIdentity(agent: Agent, change: IdentityChange, now: number): Agent {
  const { name = agent.name, description = agent.description, enabled = agent.enabled } = change;
  return { ...agent, name, ...(description !== undefined && { description }), enabled, updatedAt: now };
}

const agentRowFields = /* @__PURE__ */ defineSchema(() => ({
  id: z.string().describe('The `agentId` of requests. Those of built-in agents are words, such as `spell-check`.'),
  name: z.string().describe(identityTexts.name),
  description: z.string().optional().describe(identityTexts.description),
  enabled: z.boolean().describe(identityTexts.enabled),
  managedBy: z
    .enum(['customer', 'system'])
    .describe('`customer` for an agent that you created, `system` for a built-in agent.'),
  metadata: AnyObject.describe(
    'Your own data, and the API key as `apiKey`. A built-in agent has `type`, `category`, and `internal` if only other agents use it.',
  ),
  executionCount: z
    .number()
    .describe(
      'The number of executions that comments name by `executionId`. A new execution counts within about a minute.',
    ),
  lastExecutedAt: z
    .number()
    .nullable()
    .describe(
      'When the first comment of the latest execution was created, in epoch milliseconds. Null before the first execution.',
    ),
  version: z.number().optional().describe('The number of the current version, from 1. A built-in agent has none.'),
  system: z.literal(true).optional().describe('True for a built-in agent. A custom agent does not have the field.'),
}));

export const AgentRow = /* @__PURE__ */ defineNamedSchema('AgentSummary', () =>
  z.object(agentRowFields).describe('A review agent in a list, without what it does.'),
);
export type AgentRow = z.output<typeof AgentRow>;

const behaviourFields = /* @__PURE__ */ defineSchema(() => ({
  rawInstructions: z.string().optional().describe(behaviourTexts.rawInstructions),
  instructions: z.string().optional().describe(behaviourTexts.instructions),
  phaseTimeoutMs: z.number().optional().describe(behaviourTexts.phaseTimeoutMs),
  ...Object.fromEntries(
    (['contextGathering', 'execution', 'response', 'postProcess', 'input', 'scope', 'setup'] as const).map((block) => [
      block,
      AnyObject.optional().describe(behaviourTexts[block]),
    ]),
  ),
}));

/** Loose, because the behaviour can contain the caller's own fields. */
const CustomAgentResponse = /* @__PURE__ */ defineNamedSchema('CustomAgent', () =>
  z
    .looseObject({
      ...agentRowFields,
      ...behaviourFields,
      managedBy: z.literal('customer').describe('Always `customer`: you created the agent.'),
      createdAt: z.number().describe('When the agent was created, in epoch milliseconds.'),
      updatedAt: z
        .number()
        .describe('When the agent or its version last changed, in epoch milliseconds. Executions do not count.'),
    })
    .describe(
      'A review agent that you created, with its current version. Further fields that you sent are at the top level. Secrets are `__redacted__`.',
    ),
);

const BuiltInAgentResponse = /* @__PURE__ */ defineNamedSchema('BuiltInAgent', () =>
  z
    .object({
      ...agentRowFields,
      managedBy: z.literal('system').describe('Always `system`: the service has the agent built in.'),
      inputRequirements: AnyObject.describe(
        'The inputs that the agent needs: all in `requires`, and at least one in `requiresOneOf`.',
      ),
      userContextFields: z.array(AnyObject).describe('Always empty: built-in agents need no values from users.'),
    })
    .describe('A review agent that every API key has. Its instructions are not published.'),
);

const AgentResponse = /* @__PURE__ */ defineSchema(() => z.union([CustomAgentResponse, BuiltInAgentResponse]));
type AgentResponse = z.output<typeof AgentResponse>;

export const AgentsOrAgent = /* @__PURE__ */ defineSchema(() =>
  z.union([
    z.object({ agent: AgentResponse.describe('The agent, if the request has an `agentId`.') }),
    z.object({ agents: z.array(AgentRow).describe('The rows, if the request has no `agentId`.') }),
  ]),
);

export const VersionResponse = /* @__PURE__ */ defineNamedSchema('AgentVersion', () =>
  z
    .looseObject({
      id: z.string().describe('`v` and the number of the version, such as `v2`.'),
      version: z.number().describe('The number of the version, from 1. A restore frees the number that it removes.'),
      createdAt: z.number().describe('When the version was written, in epoch milliseconds.'),
      metadata: AnyObject.describe('Your own data of this version, and the API key as `apiKey`.'),
      ...behaviourFields,
    })
    .describe(
      'What a review agent did in one version. Further fields that you sent are at the top level. Secrets are `__redacted__`.',
    ),
);
export type VersionResponse = z.output<typeof VersionResponse>;

export function toMetadataResponse(tenant: string, metadata = '{}'): Record<string, unknown> {
  return { ...(JSON.parse(metadata) as OpenKeys), apiKey: tenant };
}

export function toAgentRow(tenant: string, agent: Agent): AgentRow & { readonly managedBy: 'customer' } {
  const { agentId: id, name, description, enabled, metadata, version } = agent;
  return {
    id,
    name,
    description,
    enabled,
    version,
    managedBy: 'customer',
    metadata: toMetadataResponse(tenant, metadata),
    ...toRunCountResponse(agent),
  };
}

export function toAgentResponse(tenant: string, { agent, current }: AgentWithVersion): AgentResponse {
  const { createdAt, updatedAt } = agent;
  return { ...(JSON.parse(current.behaviour) as OpenKeys), ...toAgentRow(tenant, agent), createdAt, updatedAt };
}

export function toVersionResponse(
  tenant: string,
  { version, behaviour, metadata, createdAt }: AgentVersion,
): VersionResponse {
  return {
    ...(JSON.parse(behaviour) as OpenKeys),
    id: `v${version}`,
    version,
    createdAt,
    metadata: toMetadataResponse(tenant, metadata),
  };
}

export function toBuiltInRow(
  { id, name, description, category, internal }: BuiltInAgent,
  change: BuiltInChange | undefined,
): AgentRow & { readonly managedBy: 'system' } {
  return {
    id,
    name,
    description,
    enabled: change?.enabled ?? true,
    system: true,
    managedBy: 'system',
    metadata: { type: 'system', category, ...(internal && { internal }) },
    ...toRunCountResponse(change ?? {}),
  };
}

export function toBuiltInResponse(agent: BuiltInAgent, change: BuiltInChange | undefined): AgentResponse {
  return { ...toBuiltInRow(agent, change), inputRequirements: { ...agent.inputRequirements }, userContextFields: [] };
}

export function unknownAgent(): ApiError {
  return new ApiError('NOT_FOUND', 'Agent not found.');
}

export function onlyCustomAgents(): ApiError {
  return invalid({
    path: ['agentId'],
    code: 'built_in',
    message: 'agentId must name a custom agent: built-in agents can only be enabled and disabled',
  });
}
