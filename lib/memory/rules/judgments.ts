import * as z from 'zod';
import { Id, Name, optional, Text } from '../../shared/schema.ts';
import { EpochMilliseconds } from '../../shared/times.ts';

/** Whether a person decided, or an agent. */
export const judgeTypes = ['human', 'agent'] as const;
export type JudgeType = (typeof judgeTypes)[number];

/** What a reasoning may have; what was reviewed is a text like any other. */
const REASONING_CHARACTERS = 10_000;
/** How far ahead of ours the clock of a caller may be. */
const AHEAD_MS = 5 * 60_000;

const NotBlank = z.refine<string>((text) => text.trim() !== '', { error: 'must not be blank' });

/** Why somebody decided as they did. */
export const Reasoning = Text.min(1).max(REASONING_CHARACTERS).check(NotBlank);

const Agent = z.object({ agentId: Id, agentType: optional(Name), executionId: optional(Id) });

/** A judgment as callers add it. */
export const NewJudgment = z.object({
  recordId: optional(Id),
  decision: Name.check(NotBlank),
  reasoning: Reasoning,
  content: optional(Text),
  contentType: optional(Name),
  confidence: optional(z.number().min(0).max(100)),
  actionUser: z.object({ userId: Id, name: optional(Name), email: optional(Name) }),
  annotationId: optional(Id),
  agent: optional(Agent),
  createdAt: optional(EpochMilliseconds),
});
export type NewJudgment = z.output<typeof NewJudgment>;

const StoredAgent = z.object({
  agentId: z.string(),
  agentType: z.string().optional(),
  executionId: z.string().optional(),
});
const Reviewer = z.object({ userId: z.string(), name: z.string().optional(), email: z.string().optional() });

/** A judgment as it is stored: what was decided of what, by whom and why. */
export const Judgment = z.object({
  recordId: z.string(),
  /** The internal ids of where it lies, and the customer's. */
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
  agent: StoredAgent.optional(),
  createdAt: z.number(),
});
export type Judgment = z.output<typeof Judgment>;

/** Where a judgment lies: in a document, or in an organization alone. */
export type JudgmentPlace = Pick<Judgment, 'organizationKey' | 'organizationId' | 'documentKey' | 'documentId'>;

/** A judgment that was sent, with its id. */
export function toJudgment(
  { recordId: _, createdAt, ...sent }: NewJudgment,
  recordId: string,
  scope: JudgmentPlace,
  now: number,
): Judgment {
  const { organizationKey, organizationId, documentKey, documentId } = scope;
  return { ...sent, recordId, organizationKey, organizationId, documentKey, documentId, createdAt: createdAt ?? now };
}

/** What speaks against a judgment that was sent; undefined for nothing. */
export function faultOf({ createdAt }: NewJudgment, now: number): string | undefined {
  return createdAt !== undefined && createdAt > now + AHEAD_MS ? 'createdAt must not be in the future.' : undefined;
}

/** Whether a person decided: whoever names an agent says that it did. */
export function judgeTypeOf({ agent }: Pick<Judgment, 'agent'>): JudgeType {
  return agent ? 'agent' : 'human';
}

/** The text by which a judgment is found: what was decided and why. */
export function reviewText({ decision, reasoning }: Pick<Judgment, 'decision' | 'reasoning'>): string {
  return `${decision}\n${reasoning}`;
}

/** The text by which a judgment is found by what it is about; undefined when nothing is said of that. */
export function contentText({ content }: Pick<Judgment, 'content'>): string | undefined {
  return content === undefined || content.trim() === '' ? undefined : content;
}

/** A judgment as answers show it (spec 2). */
export const JudgmentResponse = z.object({
  recordId: z.string(),
  reasoning: z.string(),
  decision: z.string(),
  confidence: z.number().optional(),
  actionUser: Reviewer,
  createdAt: z.number(),
  /** 1 for what was not searched by similarity. */
  similarity: z.number(),
  /** Where it lies: in a document, or in an organization alone. */
  scope: z.enum(['document', 'organization']),
  organizationId: z.string(),
  documentId: z.string().optional(),
  annotationId: z.string().optional(),
  contentType: z.string().optional(),
  agent: StoredAgent.nullable(),
});
export type JudgmentResponse = z.output<typeof JudgmentResponse>;

/** A judgment as answers show it; without a similarity it was not searched by that. */
export function toJudgmentResponse(judgment: Judgment, similarity = 1): JudgmentResponse {
  const {
    recordId,
    reasoning,
    decision,
    confidence,
    actionUser,
    createdAt,
    organizationId,
    documentKey,
    documentId,
    annotationId,
    contentType,
    agent = null,
  } = judgment;
  const scope = documentKey === undefined ? 'organization' : 'document';
  return {
    recordId,
    reasoning,
    decision,
    confidence,
    actionUser,
    createdAt,
    similarity,
    scope,
    organizationId,
    documentId,
    annotationId,
    contentType,
    agent,
  };
}

/** How alike two texts are by the distance of their vectors, to four digits; never below 0, which opposite vectors would be. */
export function similarityOf(distance: number): number {
  return Math.round(Math.min(Math.max(1 - distance, 0), 1) * 10_000) / 10_000;
}

/** What was decided becomes of a person who is erased: the id stays, as that of the author of a comment does. */
export function eraseFromJudgment(
  judgment: Judgment,
  { userIds, until }: { readonly userIds: ReadonlySet<string>; readonly until: number },
): Judgment {
  const {
    actionUser: { userId, name, email },
    createdAt,
  } = judgment;
  const concerns = userIds.has(userId) && createdAt <= until && (name !== undefined || email !== undefined);
  return concerns ? { ...judgment, actionUser: { userId } } : judgment;
}
