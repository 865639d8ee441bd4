import * as z from 'zod';
import { dict } from './dict.ts';

/** One entry of a list call's answer: failures of an item stay inside a success, with their reason (spec 7). */
export const ItemResult = z.object({ success: z.boolean(), id: z.string(), message: z.string() });

/** A list call's answer by id: one entry per distinct id. */
export const ItemResults = z.object({ data: z.record(z.string(), ItemResult) });

/** The same where the answer names the item by its key alone. */
export const ItemOutcome = z.object({ success: z.boolean(), message: z.string() });
export type ItemOutcome = z.output<typeof ItemOutcome>;

/** A call's answer about the users of a group, by user id. */
export const GroupResults = z.object({ data: z.record(z.string(), z.object({ success: z.boolean(), organizationUserGroupId: z.string(), message: z.string() })) });

/** Results beside their ids, joined to the answer's map. */
export function byId<R>(ids: readonly string[], results: readonly R[]): Record<string, R> {
  return dict(ids.map((id, index) => [id, results[index] as R] as const));
}
