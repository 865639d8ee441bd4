import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { Id, IsoTime, optional, requiredOr, withRefusal } from '../../shared/schema.ts';
import type { CrdtType, CrdtValue } from './yjs/values.ts';

export const EMPTY_UPDATE: Uint8Array = /* @__PURE__ */ Uint8Array.of(0, 0);
/** A longer text does not fit into a request. */
const MAX_BASE64_CHARACTERS = 5_500_000;
/** Fits the largest state and its state vector, both in base64. */
export const UPDATES_ANSWER_BYTES = 6_000_000;

export const editorName = { organizationId: Id, documentId: Id, editorId: Id };

export const EditorKey = optional(Id).meta({
  description:
    'The key of the editor that the client has, from an answer of updates/get. If this editor was deleted, the answer is NOT_FOUND, ' +
    'also if another editor was added under the same editorId. Without this field, the client mixes the two editors.',
});

export const authorFields = {
  userId: optional(Id).describe('The user who makes the change, returned as `lastUpdatedBy`. The user need not exist.'),
  sessionId: optional(Id).describe(
    'Your id of the browser tab or client that makes the change, returned as `sessionId`.',
  ),
};

/** With padding. The schema converts the text to bytes. */
export const Base64 = z
  .string()
  .max(MAX_BASE64_CHARACTERS)
  .transform((text, context) => {
    const bytes = Buffer.from(text, 'base64');
    if (text !== '' && bytes.toString('base64') === text)
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    context.issues.push({ code: 'custom', message: 'must be base64', input: text });
    return z.NEVER;
  });

export const Version = z.int().min(0);

/** Published clients can send `isServerIds` as true, with internal ids. Such requests are rejected. */
const NOT_INTERNAL = 'must be false or left out: organizationId and documentId are your own ids, not internal ones';
export const ownIds = {
  isServerIds: optional(
    withRefusal(z.literal(false, { error: NOT_INTERNAL }), { values: '`true`', message: NOT_INTERNAL }),
  ),
};

export const EditorValue = z
  .custom<CrdtValue>((value) => typeof value === 'string' || (typeof value === 'object' && value !== null), {
    error: requiredOr('must be a string, an object or an array'),
  })
  .meta({
    anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: { description: 'Any JSON value' } }],
  });

export const EditorRecord = z.object({
  data: EditorValue.describe('The value: a text or XML as a string, an object, or an array.'),
  id: z.string().describe('The `editorId`.'),
  lastUpdate: IsoTime.describe('When the value last changed.'),
  lastUpdatedBy: z
    .string()
    .describe('The id of the user who last changed the value. Empty for a change without a user.'),
  sessionId: z
    .string()
    .nullable()
    .describe('The session of the last change, as it was sent. Null for a change without one.'),
});
export type EditorRecord = z.output<typeof EditorRecord>;

export interface LastChange {
  readonly changedAt: number;
  readonly changedBy?: string | undefined;
  readonly sessionId?: string | undefined;
}

export function toEditorRecord(
  id: string,
  data: CrdtValue,
  { changedAt, changedBy = '', sessionId }: LastChange,
): EditorRecord {
  return {
    data,
    id,
    lastUpdate: new Date(changedAt).toISOString(),
    lastUpdatedBy: changedBy,
    sessionId: sessionId ?? null,
  };
}

interface EditorKind {
  readonly type: CrdtType;
  readonly contentKey: string;
}

export function requireSameKind(
  stored: EditorKind,
  sent: { readonly type: CrdtType; readonly contentKey?: string | undefined },
): void {
  if (sent.type !== stored.type)
    throw invalid({ path: ['type'], code: 'other_type', message: `type must be ${stored.type}, as the editor has it` });
  if (sent.contentKey !== undefined && sent.contentKey !== stored.contentKey) {
    throw invalid({
      path: ['contentKey'],
      code: 'other_content_key',
      message: `contentKey must be ${JSON.stringify(stored.contentKey)}, as the editor has it`,
    });
  }
}
