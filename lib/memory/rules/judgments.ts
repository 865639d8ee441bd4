import * as z from 'zod';
import { defineNamedSchema, defineSchema, Id, Name, optional, Text, withFurtherFields } from '../../shared/schema.ts';
import { EpochMilliseconds } from '../../shared/times.ts';

export const judgeTypes = ['human', 'agent'] as const;
export type JudgeType = (typeof judgeTypes)[number];

const MAX_REASONING = 10_000;
const CLOCK_SKEW_MS = 5 * 60_000;

const NotBlank = /* @__PURE__ */ defineSchema(() =>
  z.refine<string>((text) => text.trim() !== '', { error: 'must not be blank' }),
);

export const Reasoning = /* @__PURE__ */ defineSchema(() =>
  Text.min(1)
    .max(MAX_REASONING)
    .check(NotBlank)
    .describe('Why the reviewer decided so. Searches compare it with the query.'),
);

export const NewJudgment = /* @__PURE__ */ defineNamedSchema('JudgmentInput', () =>
  z
    .object({
      recordId: optional(Id).describe(
        'Your id of the judgment. In the same organization and document it replaces the stored one. By default the service makes an id.',
      ),
      decision: Name.check(NotBlank).describe(
        'What was decided, in your own words, such as `approved`. Filters compare it exactly.',
      ),
      reasoning: Reasoning,
      content: optional(Text).describe(
        'What was reviewed. Only searches with `embeddingType: "content"` use it, and no answer contains it.',
      ),
      contentType: optional(Name).describe('The kind of content, in your own words, for filters.'),
      confidence: optional(z.number().min(0).max(100)).describe('How sure the reviewer is, in percent.'),
      actionUser: withFurtherFields(
        z.object({
          userId: Id.describe('The id of the reviewer. The user need not exist.'),
          name: optional(Name).describe('What people call the reviewer. It is removed when the user is erased.'),
          email: optional(Name).describe('The e-mail address of the reviewer. It is removed when the user is erased.'),
        }),
      ).describe(
        'The reviewer: the person who decided, or in whose name the agent decided. Further fields are ignored.',
      ),
      annotationId: optional(Id).describe(
        'The comment thread to which the decision belongs. The thread need not exist.',
      ),
      agent: optional(
        z.object({
          agentId: Id.describe('The id of the agent. The agent need not exist.'),
          agentType: optional(Name).describe('The kind of agent, in your own words.'),
          executionId: optional(Id).describe('The execution in which the agent decided.'),
        }),
      ).describe('The agent, if an agent decided. The judgment then has the `judgeType` agent, otherwise human.'),
      createdAt: optional(EpochMilliseconds).describe(
        'When the decision was made, in epoch milliseconds, at most 5 minutes in the future. By default the time of the call; a stored judgment keeps its time.',
      ),
    })
    .describe('A decision of a person or an agent, with its reason.'),
);
export type NewJudgment = z.output<typeof NewJudgment>;

const JudgmentAgent = /* @__PURE__ */ defineNamedSchema('JudgmentAgent', () =>
  z
    .object({
      agentId: z.string().describe('The id of the agent, as it was sent.'),
      agentType: z.string().optional().describe('The kind of agent, in your own words.'),
      executionId: z.string().optional().describe('The execution in which the agent decided.'),
    })
    .describe('The agent that decided.'),
);
const Reviewer = /* @__PURE__ */ defineNamedSchema('Reviewer', () =>
  z
    .object({
      userId: z.string().describe('The id of the reviewer, as it was sent.'),
      name: z.string().optional().describe('What people call the reviewer. Absent after the user was erased.'),
      email: z.string().optional().describe('The e-mail address of the reviewer. Absent after the user was erased.'),
    })
    .describe('Who decided.'),
);

export const Judgment = /* @__PURE__ */ defineSchema(() =>
  z.object({
    recordId: z.string(),
    organizationKey: z.string(),
    organizationId: z.string(),
    documentKey: z.string().optional(),
    documentId: z.string().optional(),
    decision: z.string(),
    reasoning: z.string(),
    content: z.string().optional(),
    contentType: z.string().optional(),
    confidence: z.number().optional(),
    actionUser: Reviewer,
    annotationId: z.string().optional(),
    agent: JudgmentAgent.optional(),
    createdAt: z.number(),
  }),
);
export type Judgment = z.output<typeof Judgment>;

export type JudgmentLocation = Pick<Judgment, 'organizationKey' | 'organizationId' | 'documentKey' | 'documentId'>;

export function toJudgment(
  { recordId: _, createdAt, ...sent }: NewJudgment,
  recordId: string,
  { organizationKey, organizationId, documentKey, documentId }: JudgmentLocation,
  now: number,
): Judgment {
  return { ...sent, recordId, organizationKey, organizationId, documentKey, documentId, createdAt: createdAt ?? now };
}

export function findJudgmentFault({ createdAt = 0 }: NewJudgment, now: number): string | undefined {
  return createdAt > now + CLOCK_SKEW_MS ? 'createdAt must not be in the future.' : undefined;
}

export function judgeTypeOf({ agent }: Pick<Judgment, 'agent'>): JudgeType {
  return agent ? 'agent' : 'human';
}

export function reviewText({ decision, reasoning }: Pick<Judgment, 'decision' | 'reasoning'>): string {
  return `${decision}\n${reasoning}`;
}

export function contentText({ content = '' }: Pick<Judgment, 'content'>): string | undefined {
  return content.trim() === '' ? undefined : content;
}

export const JudgmentResponse = /* @__PURE__ */ defineNamedSchema('Judgment', () =>
  z
    .object({
      recordId: z.string().describe('The id of the judgment: yours, or one that the service made.'),
      reasoning: z.string().describe('Why the reviewer decided so.'),
      decision: z.string().describe('What was decided, such as `approved`.'),
      confidence: z.number().optional().describe('How sure the reviewer is, in percent.'),
      actionUser: Reviewer,
      createdAt: z.number().describe('When the decision was made, in epoch milliseconds.'),
      similarity: z
        .number()
        .describe(
          'How similar the judgment is to the query, 0 to 1. It is 1 if the judgment was found by thread or by time.',
        ),
      scope: z
        .enum(['document', 'organization'])
        .describe('Whether the judgment belongs to a document or to an organization alone.'),
      organizationId: z.string().describe('The organization of the judgment.'),
      documentId: z.string().optional().describe('The document of the judgment, if it belongs to one.'),
      annotationId: z.string().optional().describe('The comment thread to which the decision belongs.'),
      contentType: z.string().optional().describe('The kind of content that was reviewed, in your own words.'),
      agent: JudgmentAgent.nullable().describe('The agent that decided. Null if a person decided.'),
    })
    .describe('A decision of a person or an agent, with its reason, but without the reviewed content.'),
);
export type JudgmentResponse = z.output<typeof JudgmentResponse>;

export function toJudgmentResponse(
  { _r, organizationKey, documentKey, content, ...judgment }: Judgment & { readonly _r?: number },
  similarity = 1,
): JudgmentResponse {
  const scope = documentKey === undefined ? 'organization' : 'document';
  return { ...judgment, agent: judgment.agent ?? null, similarity, scope };
}

/**
 * Removes name and address of a reviewer in `userIds` from a judgment up to `removedAt` (epoch ms). Returns the same
 * object if nothing changes.
 */
export function eraseFromJudgment(
  judgment: Judgment,
  { userIds, removedAt }: { readonly userIds: ReadonlySet<string>; readonly removedAt: number },
): Judgment {
  const { actionUser, createdAt } = judgment;
  const { userId, name, email } = actionUser;
  const isErased = userIds.has(userId) && createdAt <= removedAt && (name !== undefined || email !== undefined);
  return isErased ? { ...judgment, actionUser: { userId } } : judgment;
}
