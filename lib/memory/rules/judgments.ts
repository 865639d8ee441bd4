import * as z from 'zod';
import { defineNamedSchema, defineSchema, Id, Name, optional, Text, withFurtherFields } from '../../shared/schema.ts';
import { EpochMilliseconds } from '../../shared/times.ts';

/** The kinds of reviewers: a person or an agent. */
export const judgeTypes = ['human', 'agent'] as const;
export type JudgeType = (typeof judgeTypes)[number];

const MAX_REASONING = 10_000;
/** How far a caller's clock may be ahead of the service's clock, in milliseconds. */
const CLOCK_SKEW_MS = 5 * 60_000;

const NotBlank = /* @__PURE__ */ defineSchema(() =>
  z.refine<string>((text) => text.trim() !== '', { error: 'must not be blank' }),
);

/** The reason that the reviewer gives for the decision. */
export const Reasoning = /* @__PURE__ */ defineSchema(() => Text.min(1).max(MAX_REASONING).check(NotBlank));

/** A judgment in a request. */
export const NewJudgment = /* @__PURE__ */ defineNamedSchema('JudgmentInput', () =>
  z.object({
    recordId: optional(Id),
    decision: Name.check(NotBlank),
    reasoning: Reasoning,
    content: optional(Text),
    contentType: optional(Name),
    confidence: optional(z.number().min(0).max(100)),
    actionUser: withFurtherFields(z.object({ userId: Id, name: optional(Name), email: optional(Name) })),
    annotationId: optional(Id),
    agent: optional(z.object({ agentId: Id, agentType: optional(Name), executionId: optional(Id) })),
    createdAt: optional(EpochMilliseconds),
  }),
);
export type NewJudgment = z.output<typeof NewJudgment>;

const JudgmentAgent = /* @__PURE__ */ defineNamedSchema('JudgmentAgent', () =>
  z.object({
    agentId: z.string(),
    agentType: z.string().optional(),
    executionId: z.string().optional(),
  }),
);
const Reviewer = /* @__PURE__ */ defineNamedSchema('Reviewer', () =>
  z.object({ userId: z.string(), name: z.string().optional(), email: z.string().optional() }),
);

/** A stored judgment: a decision, who made it and why. Without a document, it belongs to the organization. */
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

/** The document or the organization to which a judgment belongs. */
export type JudgmentLocation = Pick<Judgment, 'organizationKey' | 'organizationId' | 'documentKey' | 'documentId'>;

export function toJudgment(
  { recordId: _, createdAt, ...sent }: NewJudgment,
  recordId: string,
  { organizationKey, organizationId, documentKey, documentId }: JudgmentLocation,
  now: number,
): Judgment {
  return { ...sent, recordId, organizationKey, organizationId, documentKey, documentId, createdAt: createdAt ?? now };
}

/** Returns why a judgment cannot be added, as a text for the answer. Returns undefined if it can be added. */
export function findJudgmentFault({ createdAt = 0 }: NewJudgment, now: number): string | undefined {
  return createdAt > now + CLOCK_SKEW_MS ? 'createdAt must not be in the future.' : undefined;
}

/** Returns who made a judgment: an agent if the judgment has `agent`, otherwise a person. */
export function judgeTypeOf({ agent }: Pick<Judgment, 'agent'>): JudgeType {
  return agent ? 'agent' : 'human';
}

/** Returns the text that is embedded as the review: decision and reasoning. */
export function reviewText({ decision, reasoning }: Pick<Judgment, 'decision' | 'reasoning'>): string {
  return `${decision}\n${reasoning}`;
}

/** Returns the text that is embedded as the content, or undefined if the judgment has no content. */
export function contentText({ content = '' }: Pick<Judgment, 'content'>): string | undefined {
  return content.trim() === '' ? undefined : content;
}

/** A judgment in a response. */
export const JudgmentResponse = /* @__PURE__ */ defineNamedSchema('Judgment', () =>
  z.object({
    recordId: z.string(),
    reasoning: z.string(),
    decision: z.string(),
    confidence: z.number().optional(),
    actionUser: Reviewer,
    createdAt: z.number(),
    /** How similar the judgment is to the query, 0 to 1. It is 1 if the judgment was not found by similarity. */
    similarity: z.number(),
    scope: z.enum(['document', 'organization']),
    organizationId: z.string(),
    documentId: z.string().optional(),
    annotationId: z.string().optional(),
    contentType: z.string().optional(),
    agent: JudgmentAgent.nullable(),
  }),
);
export type JudgmentResponse = z.output<typeof JudgmentResponse>;

/** Returns the response body of a judgment, without its revision, its internal ids and its content. */
export function toJudgmentResponse(
  { _r, organizationKey, documentKey, content, ...judgment }: Judgment & { readonly _r?: number },
  similarity = 1,
): JudgmentResponse {
  const scope = documentKey === undefined ? 'organization' : 'document';
  return { ...judgment, agent: judgment.agent ?? null, similarity, scope };
}

/**
 * Returns the judgment without the name and e-mail address of its reviewer. Returns the same judgment if the reviewer
 * is not in `userIds` or the judgment was made after `removedAt` (epoch ms). The user id always stays.
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
