import { invalid } from '../../shared/errors.ts';
import { Location, locationKey } from './location.ts';

/** What `locations/update` makes of a stored location. */
export interface LocationChange {
  readonly newLocation: Location;
  /** Whether the fields of `newLocation` are merged into the stored location instead of replacing it. */
  readonly merge: boolean;
}

/** A location as records store it. */
export interface StoredLocation {
  readonly location: string;
  readonly locationKey: string;
}

/** Returns a stored location (JSON text) after a change; merging is shallow. INVALID_ARGUMENT when the merged location is larger than a location may be. */
export function changeLocation(before: string | undefined, { newLocation, merge }: LocationChange): Location {
  if (!merge || before === undefined) return newLocation;
  const { success, data } = Location.safeParse(withFields(JSON.parse(before) as object, newLocation));
  if (!success) throw tooLarge();
  return data;
}

/** Merges like a spread, but keeps a key named `__proto__`. */
function withFields(before: object, after: object): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(after)]);
}

/** Returns what records store of a location. */
export function storedLocation(location: Location): StoredLocation {
  return { location: JSON.stringify(location), locationKey: locationKey(location) };
}

/** Thrown when a location, or a record with its new location, would be larger than what is stored. */
export function tooLarge(): Error {
  return invalid({
    path: ['migrate', 'newLocation'],
    code: 'too_big',
    message: 'migrate.newLocation makes a location or its content too large',
  });
}
