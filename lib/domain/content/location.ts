import { hash } from 'node:crypto';
import * as z from 'zod';
import { Id, keptObject, Name, optional } from '../../schema.ts';

const Known = z.object({ id: optional(z.union([Id, z.number()])), locationName: optional(Name) })
  .check(z.refine(({ id, locationName }) => id !== undefined || locationName !== undefined, { path: ['id'], error: 'must be given, or locationName' }));

/** Where on a document something is, in the customer's terms: `id` or `locationName`, and any other keys, which are kept. */
export type Location = Readonly<Record<string, unknown>> & z.output<typeof Known>;

export const Location = keptObject(Known) as unknown as z.ZodType<Location>;

/** What a location is known by when a call names it alone: as `locationKey` gives it. */
export const LocationKey = Id;

/**
 * What a location is known by (design 14): its `id` as text, else a hash of its `locationName`. The id wins, so that a renamed
 * location stays the same one; `1` and `"1"` are the same location.
 */
export function locationKey({ id, locationName }: Location): string {
  return id === undefined || id === null ? hash('sha256', `locationName:${locationName ?? ''}`, 'hex').slice(0, 32) : String(id);
}
