import { hash } from 'node:crypto';
import * as z from 'zod';
import { Id, unchangedObject, limits, optional, Text } from '../../shared/schema.ts';

const LocationId = z.union([Id, z.number()], { error: 'must be a string or a number' });
const LocationName = Text.max(limits.idCharacters);

const DocumentedLocation = z
  .looseObject({
    id: optional(LocationId),
    locationName: optional(LocationName),
    version: optional(z.object({ id: optional(LocationId), name: optional(LocationName) })),
  })
  .check(z.refine(isNamed, { error: 'must have an id, a locationName or another key' }));

/** A position on a document, defined by the customer. Keys besides the known ones are kept. */
export type Location = Readonly<Record<string, unknown>> & z.output<typeof DocumentedLocation>;

export const Location = unchangedObject(DocumentedLocation) as unknown as z.ZodType<Location>;

function isNamed({ id, locationName, ...others }: Readonly<Record<string, unknown>>): boolean {
  return id != null || Boolean(locationName) || Object.keys(others).length > 0;
}

/** The key of a location in a request: a result of `locationKey`. */
export const LocationKey = Id;

/**
 * Returns the key of a location: its `id` as text, otherwise a hash of its `locationName`, otherwise a hash of the whole object in any
 * key order. The id comes first, so that a renamed location keeps its key. `1` and `"1"` are the same location.
 */
export function locationKey(location: Location): string {
  // Unchecked fields: a location is kept as it was sent, with `null` for a missing id.
  const { id, locationName, ...others }: Readonly<Record<string, unknown>> = location;
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  return digest(
    typeof locationName === 'string' && locationName
      ? `locationName:${locationName}`
      : `location:${canonicalJson(others)}`,
  );
}

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/** Returns JSON with sorted keys: equal values have equal texts. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonicalJson(part)}`).join()}}`;
}
