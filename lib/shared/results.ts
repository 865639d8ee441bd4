import * as z from 'zod';
import { dict } from './collections.ts';

/** The result of one item of a list call. A failed item is part of a successful answer. */
export const ItemResult = z.object({ success: z.boolean(), id: z.string(), message: z.string() });

/** Reasons why a document of a call failed. */
export const documentErrorCodes = ['already-exists', 'not-found', 'internal'] as const;

/** The result of one document of a call. `id` is the internal key, or the sent id if the document failed. */
export const DocumentResult = ItemResult.extend({ code: z.enum(documentErrorCodes).optional() });
export type DocumentResult = z.output<typeof DocumentResult>;

/** Returns the result of a document that failed. */
export function failedDocument(
  documentId: string,
  message: string,
  code: (typeof documentErrorCodes)[number],
): DocumentResult {
  return { success: false, id: documentId, message, code };
}

/** An answer about documents, by the sent ids. */
export const DocumentResults = z.object({ data: z.record(z.string(), DocumentResult) });

/** The answer of a list call: one result per distinct id. */
export const ItemResults = z.object({ data: z.record(z.string(), ItemResult) });

/** The result of one item whose id is only the key of the map. */
export const ItemOutcome = z.object({ success: z.boolean(), message: z.string() });
export type ItemOutcome = z.output<typeof ItemOutcome>;

/** An answer about the users of a group, by user id. */
export const GroupResults = z.object({
  data: z.record(
    z.string(),
    z.object({ success: z.boolean(), organizationUserGroupId: z.string(), message: z.string() }),
  ),
});

/** Returns a map of the results by id. `results` is in the order of the ids. */
export function byId<R>(ids: readonly string[], results: readonly R[]): Record<string, R> {
  return dict(ids.map((id, index) => [id, results[index] as R] as const));
}
