import * as z from 'zod';
import { dict } from './collections.ts';

/** The result of one item of a list call. Some items can fail in a call that succeeds. */
export const ItemResult = z.object({ success: z.boolean(), id: z.string(), message: z.string() });

/** Reasons why a document of a call failed. */
export const documentErrorCodes = ['already-exists', 'not-found', 'internal'] as const;

/** The result of one document of a list call. `id` is the `documentKey`, or the `documentId` if the document failed. */
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

/** The answer of a list call about documents, by `documentId`. */
export const DocumentResults = z.object({ data: z.record(z.string(), DocumentResult) });

/** The answer of a list call: one result per distinct id. */
export const ItemResults = z.object({ data: z.record(z.string(), ItemResult) });

/** The result of one item in a map by id, without the id. */
export const ItemOutcome = z.object({ success: z.boolean(), message: z.string() });
export type ItemOutcome = z.output<typeof ItemOutcome>;

/** The answer of a list call about the users of a group, by user id. */
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

/** Returns a map of the results by the ids of their items. `results` is in the order of the items. */
export function byIdOf<T, R>(items: readonly T[], idOf: (item: T) => string, results: readonly R[]): Record<string, R> {
  return byId(items.map(idOf), results);
}

/** Returns a map by id of results. Each result in the map has its `id`. */
export function toItemResults<I extends string | number, R extends ItemOutcome>(
  results: readonly R[],
  idOf: (result: R) => I,
): Record<string, { success: boolean; id: I; message: string }> {
  return dict(
    results.map((result) => {
      const { success, message } = result;
      return [String(idOf(result)), { success, id: idOf(result), message }] as const;
    }),
  );
}

/** Returns the answer of a list call about the users of a group. `outcomes` is in the order of `userIds`. */
export function toGroupResults(
  organizationUserGroupId: string,
  userIds: readonly string[],
  outcomes: readonly ItemOutcome[],
): z.output<typeof GroupResults> {
  return {
    data: dict(
      userIds.map((userId, index) => [userId, { ...(outcomes[index] as ItemOutcome), organizationUserGroupId }]),
    ),
  };
}
