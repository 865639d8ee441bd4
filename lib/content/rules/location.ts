import { hash } from 'node:crypto';
import * as z from 'zod';
import { Id, unchangedObject, limits, optional, Text } from '../../shared/schema.ts';

const LocationId = z.union([Id, z.number()], { error: 'must be a string or a number' });
const LocationName = Text.max(limits.idCharacters);

const Known = z
  .looseObject({
    id: optional(LocationId),
    locationName: optional(LocationName),
    version: optional(z.object({ id: optional(LocationId), name: optional(LocationName) })),
  })
  .check(z.refine(isNamed, { error: 'must have an id, a locationName or another key' }));

/** Where on a document something is, in the customer's terms: `id`, `locationName`, `version`, and any other keys, which are kept. */
export type Location = Readonly<Record<string, unknown>> & z.output<typeof Known>;

export const Location = unchangedObject(Known) as unknown as z.ZodType<Location>;

function isNamed({ id, locationName, ...others }: Readonly<Record<string, unknown>>): boolean {
  return id != null || Boolean(locationName) || Object.keys(others).length > 0;
}

/** What a location is known by when a call names it alone: as `locationKey` gives it. */
export const LocationKey = Id;

/**
 * The key of a location: its `id` as text, else a hash of its `locationName`, else a hash of the whole object, whatever the order of its keys. The id
 * wins, so that a renamed location stays the same one. `1` and `"1"` are the same location.
 */
export function locationKey({ id, locationName, ...others }: Location): string {
  if (id !== undefined && id !== null) return String(id);
  return digest(locationName ? `locationName:${locationName}` : `location:${canonicalJson(others)}`);
}

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** JSON with sorted keys: the same text for equal values. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`).join()}}`;
}
