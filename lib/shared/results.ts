import * as z from 'zod';
import { dict } from './collections.ts';

/** One entry of a list call's answer: failures of an item stay inside a success, with their reason (spec 7). */
export const ItemResult = z.object({ success: z.boolean(), id: z.string(), message: z.string() });

/** Why an item about a document failed. */
export const documentErrorCodes = ['already-exists', 'not-found', 'internal'] as const;

/** What became of one document of a call: `id` is the internal id, or the id that was sent when the item failed. */
export const DocumentResult = ItemResult.extend({ code: z.enum(documentErrorCodes).optional() });
export type DocumentResult = z.output<typeof DocumentResult>;

/** The result of a document that could not be added, changed or deleted. */
export function failedDocument(
  documentId: string,
  message: string,
  code: (typeof documentErrorCodes)[number],
): DocumentResult {
  return { success: false, id: documentId, message, code };
}

/** A call's answer about documents, by the ids that were sent. */
export const DocumentResults = z.object({ data: z.record(z.string(), DocumentResult) });

/** A list call's answer by id: one entry per distinct id. */
export const ItemResults = z.object({ data: z.record(z.string(), ItemResult) });

/** The same where the answer names the item by its key alone. */
export const ItemOutcome = z.object({ success: z.boolean(), message: z.string() });
export type ItemOutcome = z.output<typeof ItemOutcome>;

/** A call's answer about the users of a group, by user id. */
export const GroupResults = z.object({
  data: z.record(
    z.string(),
    z.object({ success: z.boolean(), organizationUserGroupId: z.string(), message: z.string() }),
  ),
});

/** Results beside their ids, joined to the answer's map. */
export function byId<R>(ids: readonly string[], results: readonly R[]): Record<string, R> {
  return dict(ids.map((id, index) => [id, results[index] as R] as const));
}
