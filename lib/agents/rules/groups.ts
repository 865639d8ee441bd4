import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { Id, limits, list, OpenObject, optional, Text } from '../../shared/schema.ts';
import { toMetadataResponse } from './agents.ts';
import type { OpenKeys } from './shapes.ts';

/** How many groups an API key may have, and how many agents a group. */
export const MOST_GROUPS = 50;
export const MOST_MEMBERS = 100;
const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 2_000;

/** Agents that are shown together, in an order; the times are epoch ms. */
export const AgentGroup = z.object({
  groupId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  agentIds: z.array(z.string()),
  /** As JSON text. */
  metadata: z.string().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type AgentGroup = z.output<typeof AgentGroup>;

const GroupName = Text.trim().min(1).max(LONGEST_NAME);
const GroupDescription = Text.max(LONGEST_DESCRIPTION);

/** What a group is created with (facts B4). */
export const NewGroup = z.strictObject({
  name: GroupName,
  description: optional(GroupDescription),
  agentIds: optional(list(Id, MOST_MEMBERS, 0)),
  metadata: optional(OpenObject),
});

/** What of a group may change; its agents have calls of their own. */
export const GroupChange = z.strictObject({
  groupId: Id,
  name: optional(GroupName),
  description: optional(GroupDescription),
});

/** Agents that go into a group, or leave it. */
export const GroupMembers = z.strictObject({ groupId: Id, agentIds: list(Id, limits.list) });

export function newGroup(
  { name, description, agentIds = [], metadata }: z.output<typeof NewGroup>,
  made: { groupId: string; now: number },
): AgentGroup {
  const { groupId, now } = made;
  return {
    groupId,
    name,
    agentIds: distinct(agentIds),
    createdAt: now,
    updatedAt: now,
    ...(description !== undefined && { description }),
    ...(metadata && { metadata: JSON.stringify(metadata) }),
  };
}

export function changeGroup(
  group: AgentGroup,
  { name, description }: Omit<z.output<typeof GroupChange>, 'groupId'>,
  now: number,
): AgentGroup {
  return {
    ...group,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    updatedAt: now,
  };
}

/** A group with these agents behind those that it has; as it is when it has them all. RESOURCE_EXHAUSTED when they are too many. */
export function withAgents(group: AgentGroup, added: readonly string[], now: number): AgentGroup {
  const agentIds = distinct([...group.agentIds, ...added]);
  if (agentIds.length === group.agentIds.length) return group;
  if (agentIds.length > MOST_MEMBERS)
    throw new ApiError('RESOURCE_EXHAUSTED', `A group can have at most ${MOST_MEMBERS} agents.`);
  return { ...group, agentIds, updatedAt: now };
}

/** A group without these agents; as it is when it has none of them. */
export function withoutAgents(group: AgentGroup, removed: readonly string[], now: number): AgentGroup {
  const agentIds = group.agentIds.filter((agentId) => !removed.includes(agentId));
  return agentIds.length === group.agentIds.length ? group : { ...group, agentIds, updatedAt: now };
}

const shownShape = {
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  updatedAt: z.number(),
};

/** A group as answers show it, and as lists do. */
export const GroupResponse = z.object({ ...shownShape, agentIds: z.array(z.string()) });
export const GroupRow = z.object({ ...shownShape, agentCount: z.number() });

function shown(tenant: string, { groupId: id, name, description, metadata, createdAt, updatedAt }: AgentGroup) {
  return {
    id,
    name,
    description,
    metadata: toMetadataResponse(tenant, metadata) as Record<string, unknown>,
    createdAt,
    updatedAt,
  } satisfies OpenKeys;
}

export function toGroupResponse(tenant: string, group: AgentGroup): z.output<typeof GroupResponse> {
  return { ...shown(tenant, group), agentIds: group.agentIds };
}

export function toGroupRowResponse(tenant: string, group: AgentGroup): z.output<typeof GroupRow> {
  return { ...shown(tenant, group), agentCount: group.agentIds.length };
}

/** What a call about a group answers that there is not, or not for this caller. */
export function unknownGroup(): ApiError {
  return new ApiError('NOT_FOUND', 'Agent group not found.');
}

/** NOT_FOUND for agents that are to be in a group and do not exist. */
export function requireKnown(unknown: readonly string[]): void {
  if (unknown.length > 0)
    throw new ApiError('NOT_FOUND', `agentIds: these agents do not exist: ${unknown.slice(0, 10).join(', ')}`);
}
