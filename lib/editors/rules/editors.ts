import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import { Id, IsoTime, optional } from '../../shared/schema.ts';
import type { CrdtType, CrdtValue } from './yjs/values.ts';

/** An update that changes nothing. */
export const EMPTY_UPDATE: Uint8Array = /* @__PURE__ */ Uint8Array.of(0, 0);
/** The largest update or state vector in base64: what a body can hold. */
const MOST_CHARACTERS = 5_500_000;
/** The base64 of the largest state, with its state vector. */
export const UPDATES_ANSWER_BYTES = 6_000_000;

/** Which editor a request is about. */
export const editorName = { organizationId: Id, documentId: Id, editorId: Id };

/** Who changes an editor; both are the caller's to say. */
export const changing = { userId: optional(Id), sessionId: optional(Id) };

/** Bytes in base64, with padding; comes out as bytes. */
export const Base64 = z
  .string()
  .max(MOST_CHARACTERS)
  .transform((text, context) => {
    const bytes = Buffer.from(text, 'base64');
    if (text !== '' && bytes.toString('base64') === text)
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    context.issues.push({ code: 'custom', message: 'must be base64', input: text });
    return z.NEVER;
  });

/** A version as answers give it. */
export const Version = z.int().min(0);

/** Published clients can say that they send internal ids. Here organizations and documents are named by the customer's ids only. */
export const ownIds = {
  isServerIds: optional(
    z.literal(false, {
      error: 'must be false or left out: organizationId and documentId are your own ids, not internal ones',
    }),
  ),
};

/** A value of an editor as it is sent; whether it fits the type is another question. */
export const EditorValue = z
  .custom<CrdtValue>((value) => typeof value === 'string' || (typeof value === 'object' && value !== null), {
    error: 'must be a string, an object or an array',
  })
  .meta({
    anyOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: { description: 'Any JSON value' } }],
  });

/** An editor as answers and events show it (spec 2, CRDT store record). */
export const EditorRecord = z.object({
  data: EditorValue,
  id: z.string(),
  /** ISO 8601. */
  lastUpdate: IsoTime,
  /** Empty when nobody said who it was. */
  lastUpdatedBy: z.string(),
  sessionId: z.string().nullable(),
});
export type EditorRecord = z.output<typeof EditorRecord>;

/** Who changed an editor last, and when (epoch ms). */
export interface LastChange {
  readonly changedAt: number;
  readonly changedBy?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** The record of an editor. */
export function editorRecord(
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

/** What a request may say of an editor that is there. */
interface StoredKind {
  readonly type: CrdtType;
  readonly contentKey: string;
}

/** INVALID_ARGUMENT when a replace names another type than the stored one, or another content key: it would be another thing. */
export function requireSameKind(
  stored: StoredKind,
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
