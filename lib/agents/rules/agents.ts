import * as z from 'zod';
import { ApiError, invalid } from '../../shared/errors.ts';
import type { BuiltInAgent } from './builtIn.ts';
import type { Behaviour } from './configuration.ts';
import { toRunsResponse } from './runs.ts';
import type { OpenKeys } from './shapes.ts';

/** How many custom agents an API key may have. */
export const MOST_AGENTS = 1_000;

/** How often an agent ran, and when last, epoch ms; absent before the first time. */
const runCount = { executionCount: z.number().optional(), lastExecutedAt: z.number().optional() };

/** A custom agent itself: what is the same in all of its versions, and which version is the current one. The times are epoch ms. */
export const Agent = z.object({
  agentId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  enabled: z.boolean(),
  /** Of the current version, as JSON text: lists show it. */
  metadata: z.string().optional(),
  version: z.number(),
  /** Which writing of that version it is: one that was restored away can be written again. */
  versionId: z.string(),
  /** The call that restored the current version, so that it is not restored twice. */
  restoredBy: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  ...runCount,
});
export type Agent = z.output<typeof Agent>;

/** A version of a custom agent; it never changes. */
export const AgentVersion = z.object({
  version: z.number(),
  versionId: z.string(),
  /** As JSON text, without its secrets. */
  behaviour: z.string(),
  /** As JSON text. */
  metadata: z.string().optional(),
  /** The secrets, encrypted. */
  secrets: z.string().optional(),
  createdAt: z.number(),
});
export type AgentVersion = z.output<typeof AgentVersion>;

/** What a tenant changed of a built-in agent, and how often it ran there. */
export const BuiltInChange = z.object({
  agentId: z.string(),
  enabled: z.boolean().optional(),
  updatedAt: z.number().optional(),
  ...runCount,
});
export type BuiltInChange = z.output<typeof BuiltInChange>;

/** An agent with its current version. */
export interface WholeAgent {
  readonly agent: Agent;
  readonly current: AgentVersion;
}

/** An agent after a version was written that follows the stored one. */
export function withVersion(agent: Agent, { version, versionId, metadata, createdAt }: AgentVersion): Agent {
  const { metadata: _, restoredBy: __, ...rest } = agent;
  return { ...rest, version, versionId, updatedAt: createdAt, ...(metadata !== undefined && { metadata }) };
}

/** An agent after the version before was restored. */
export function withRestored(agent: Agent, before: AgentVersion, by: { callId: string; now: number }): Agent {
  return { ...withVersion(agent, before), updatedAt: by.now, restoredBy: by.callId };
}

/** What of an agent may change without a new version (spec 4.12). */
export interface IdentityChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly enabled?: boolean | undefined;
}

export function changeIdentity(agent: Agent, { name, description, enabled }: IdentityChange, now: number): Agent {
  return {
    ...agent,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(enabled !== undefined && { enabled }),
    updatedAt: now,
  };
}

const anObject = z.record(z.string(), z.unknown());

const rowShape = {
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  enabled: z.boolean(),
  managedBy: z.enum(['customer', 'system']),
  metadata: anObject,
  executionCount: z.number(),
  /** Epoch milliseconds; null when it never ran. */
  lastExecutedAt: z.number().nullable(),
  /** Of a custom agent. */
  version: z.number().optional(),
  /** Of a built-in agent. */
  system: z.literal(true).optional(),
};

/** An agent as lists show it (spec 4.11 rule 2). */
export const AgentRow = z.object(rowShape);
export type AgentRow = z.output<typeof AgentRow>;

const shownBehaviour = {
  rawInstructions: z.string().optional(),
  instructions: z.string().optional(),
  phaseTimeoutMs: z.number().optional(),
  ...Object.fromEntries(
    ['contextGathering', 'execution', 'response', 'postProcess', 'input', 'scope', 'setup'].map((block) => [
      block,
      anObject.optional(),
    ]),
  ),
};

/** A single agent as answers show it (spec 4.11 rule 1): its row, and of a custom agent what it does, fields of the caller's own included. */
export const AgentResponse = z.looseObject({
  ...rowShape,
  ...shownBehaviour,
  inputRequirements: anObject.optional(),
  userContextFields: z.array(anObject).optional(),
  createdAt: z.number().optional(),
  updatedAt: z.number().optional(),
});
export type AgentResponse = z.output<typeof AgentResponse>;

/** A version as lists show it. */
export const VersionResponse = z.looseObject({
  id: z.string(),
  version: z.number(),
  createdAt: z.number(),
  metadata: anObject,
  ...shownBehaviour,
});

/** The caller's own keys with those of the service. */
export function toMetadataResponse(tenant: string, metadata: string | undefined): OpenKeys {
  return { ...(metadata === undefined ? {} : (JSON.parse(metadata) as object)), apiKey: tenant };
}

export function toRowResponse(tenant: string, agent: Agent): AgentRow {
  const { agentId: id, name, description, enabled, metadata, version } = agent;
  return {
    id,
    name,
    description,
    enabled,
    version,
    managedBy: 'customer',
    metadata: toMetadataResponse(tenant, metadata),
    ...toRunsResponse(agent),
  };
}

export function toAgentResponse(tenant: string, { agent, current }: WholeAgent): AgentResponse {
  const { createdAt, updatedAt } = agent;
  return {
    ...(JSON.parse(current.behaviour) as Behaviour),
    ...toRowResponse(tenant, agent),
    createdAt,
    updatedAt,
  } as AgentResponse;
}

export function toVersionResponse(
  tenant: string,
  { version, behaviour, metadata, createdAt }: AgentVersion,
): z.output<typeof VersionResponse> {
  return {
    ...(JSON.parse(behaviour) as Behaviour),
    id: `v${version}`,
    version,
    createdAt,
    metadata: toMetadataResponse(tenant, metadata),
  } as z.output<typeof VersionResponse>;
}

/** The public side of a built-in agent; `enabled` unless the tenant has said otherwise. */
export function toBuiltInRowResponse(
  { id, name, description, category, internal }: BuiltInAgent,
  change: BuiltInChange | undefined,
): AgentRow {
  return {
    id,
    name,
    description,
    enabled: change?.enabled ?? true,
    system: true,
    managedBy: 'system',
    metadata: { type: 'system', category, ...(internal && { internal }) },
    ...toRunsResponse(change ?? {}),
  };
}

export function toBuiltInResponse(agent: BuiltInAgent, change: BuiltInChange | undefined): AgentResponse {
  return {
    ...toBuiltInRowResponse(agent, change),
    inputRequirements: { ...agent.inputRequirements },
    userContextFields: [],
  };
}

/** What a call about an agent answers that there is not, or not for this caller. */
export function unknownAgent(): ApiError {
  return new ApiError('NOT_FOUND', 'Agent not found.');
}

/** What a call about a custom agent answers that names a built-in one. */
export function onlyCustomAgents(): ApiError {
  return invalid({
    path: ['agentId'],
    code: 'built_in',
    message: 'agentId must be that of a custom agent: built-in agents can only be enabled and disabled',
  });
}
