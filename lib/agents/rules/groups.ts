import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import {
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  limits,
  list,
  OpenObject,
  optional,
  Text,
} from '../../shared/schema.ts';
import { toMetadataResponse } from './agents.ts';

export const MAX_GROUPS = 50;
export const MAX_MEMBERS = 100;
const MAX_NAME = 200;
const MAX_DESCRIPTION = 2_000;

export const AgentGroup = /* @__PURE__ */ defineSchema(() =>
  z.object({
    groupId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    agentIds: z.array(z.string()),
    metadata: z.string().optional(),
    createdAt: z.number(),
    updatedAt: z.number(),
  }),
);
export type AgentGroup = z.output<typeof AgentGroup>;

const GroupName = /* @__PURE__ */ defineSchema(() =>
  Text.trim().min(1).max(MAX_NAME).describe('What people call the group. White space around it is removed.'),
);
const GroupDescription = /* @__PURE__ */ defineSchema(() =>
  optional(Text.max(MAX_DESCRIPTION)).describe('What the group is for, in words for people.'),
);
export const GroupId = /* @__PURE__ */ defineSchema(() =>
  Id.describe('The group, by the id that `/v2/agents/groups/create` returned.'),
);

export const NewGroup = /* @__PURE__ */ defineSchema(() =>
  z.object({
    name: GroupName,
    description: GroupDescription,
    agentIds: optional(list(Id, MAX_MEMBERS, 0)).describe(
      'The agents of the group in their order, custom or built-in. An id that appears again is ignored.',
    ),
    metadata: optional(OpenObject).describe('Your own data. It cannot be changed later.'),
  }),
);

export const GroupChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    groupId: GroupId,
    name: optional(GroupName),
    description: GroupDescription,
  }),
);

export const GroupMembers = /* @__PURE__ */ defineSchema(() =>
  z.object({
    groupId: GroupId,
    agentIds: list(Id, limits.list).describe('The agents by their ids, custom or built-in.'),
  }),
);

export function newGroup(
  { name, description, agentIds = [], metadata }: z.output<typeof NewGroup>,
  { groupId, now }: { groupId: string; now: number },
): AgentGroup {
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
  change: Omit<z.output<typeof GroupChange>, 'groupId'>,
  now: number,
): AgentGroup {
  const { name = group.name, description = group.description } = change;
  return { ...group, name, ...(description !== undefined && { description }), updatedAt: now };
}

/** Returns the same object if the group lacks none of the agents. Throws RESOURCE_EXHAUSTED above `MAX_MEMBERS`. */
export function withAgents(group: AgentGroup, added: readonly string[], now: number): AgentGroup {
  const agentIds = distinct([...group.agentIds, ...added]);
  if (agentIds.length === group.agentIds.length) return group;
  if (agentIds.length > MAX_MEMBERS)
    throw new ApiError('RESOURCE_EXHAUSTED', `A group can have at most ${MAX_MEMBERS} agents.`);
  return { ...group, agentIds, updatedAt: now };
}

/** Returns the same object if the group has none of the agents. */
export function withoutAgents(group: AgentGroup, removed: readonly string[], now: number): AgentGroup {
  const agentIds = group.agentIds.filter((agentId) => !removed.includes(agentId));
  return agentIds.length === group.agentIds.length ? group : { ...group, agentIds, updatedAt: now };
}

const responseShape = /* @__PURE__ */ defineSchema(() => ({
  id: z.string().describe('The `groupId` of requests.'),
  name: z.string().describe('What people call the group.'),
  description: z.string().optional().describe('What the group is for, in words for people.'),
  metadata: AnyObject.describe('Your own data, and the API key as `apiKey`.'),
  createdAt: z.number().describe('When the group was created, in epoch milliseconds.'),
  updatedAt: z.number().describe('When the group or its list of agents last changed, in epoch milliseconds.'),
}));

const GroupResponse = /* @__PURE__ */ defineNamedSchema('AgentGroup', () =>
  z
    .object({
      ...responseShape,
      agentIds: z.array(z.string()).describe('The agents of the group in their order, by their ids.'),
    })
    .describe('An ordered group of review agents.'),
);
export const GroupRow = /* @__PURE__ */ defineNamedSchema('AgentGroupSummary', () =>
  z
    .object({ ...responseShape, agentCount: z.number().describe('How many agents are in the group.') })
    .describe('A group of review agents in a list, without its agents.'),
);

export const GroupAnswer = /* @__PURE__ */ defineSchema(() =>
  z.object({ data: z.object({ group: GroupResponse.describe('The group as it is now.') }) }),
);

export function toGroupAnswer(tenant: string, group: AgentGroup): z.output<typeof GroupAnswer> {
  return { data: { group: toGroupResponse(tenant, group) } };
}

function toGroupResponse(tenant: string, group: AgentGroup): z.output<typeof GroupResponse> {
  const { groupId: id, name, description, agentIds, metadata, createdAt, updatedAt } = group;
  return { id, name, description, agentIds, metadata: toMetadataResponse(tenant, metadata), createdAt, updatedAt };
}

export function toGroupRow(tenant: string, group: AgentGroup): z.output<typeof GroupRow> {
  const { agentIds, ...fields } = toGroupResponse(tenant, group);
  return { ...fields, agentCount: agentIds.length };
}

export function unknownGroup(): ApiError {
  return new ApiError('NOT_FOUND', 'Agent group not found.');
}
