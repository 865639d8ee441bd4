import { hash } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson } from '../../shared/canonicalJson.ts';
import { defineNamedSchema, defineSchema, Id, limits, optional, Text, unchangedObject } from '../../shared/schema.ts';

const LocationId = /* @__PURE__ */ defineSchema(() =>
  z.union([Id, z.number()], { error: 'must be a string or a number' }),
);
const LocationName = /* @__PURE__ */ defineSchema(() => Text.max(limits.idCharacters));

const DocumentedLocation = /* @__PURE__ */ defineSchema(() =>
  z
    .looseObject({
      id: optional(LocationId).describe(
        'Your own name of the location. It identifies the location, so `1` and `"1"` are the same one.',
      ),
      locationName: optional(LocationName).describe(
        'The name that users see. It identifies a location without an `id`.',
      ),
      version: optional(
        z.object({
          id: optional(LocationId).describe('Your own name of the version.'),
          name: optional(LocationName).describe('The name of the version that users see.'),
        }),
      ).describe('The version of the document that has the location.'),
    })
    .check(z.refine(isNamed, { error: 'must have an id, a locationName or another key' }))
    .describe('A position in a document, whose meaning is yours. Other fields are stored unchanged.'),
);

export type Location = Readonly<Record<string, unknown>> & z.output<typeof DocumentedLocation>;

export const Location = /* @__PURE__ */ defineNamedSchema(
  'Location',
  () => unchangedObject(DocumentedLocation) as unknown as z.ZodType<Location>,
);

function isNamed({ id, locationName, ...others }: Readonly<Record<string, unknown>>): boolean {
  return id != null || Boolean(locationName) || Object.keys(others).length > 0;
}

export const LocationKey = Id;

/**
 * The `id` as text. Without an `id`, a hash of `locationName`, or else of all other fields as JSON with sorted names.
 */
export function locationKey(location: Location): string {
  // The location is stored as it was sent, so both can be null.
  const { id, locationName, ...others }: Readonly<Record<string, unknown>> = location;
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  return digest(
    typeof locationName === 'string' && locationName
      ? `locationName:${locationName}`
      : `location:${canonicalJson(others)}`,
  );
}

export interface StoredLocation {
  readonly location: string;
  readonly locationKey: string;
}

export function storedLocation(location: Location): StoredLocation {
  return { location: JSON.stringify(location), locationKey: locationKey(location) };
}

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}
