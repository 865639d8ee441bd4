import { invalid } from '../../shared/errors.ts';
import { Location, locationKey } from './location.ts';

/** The change of a stored location by `locations/update`. */
export interface LocationChange {
  readonly newLocation: Location;
  /** Whether `newLocation` is merged into the stored location. Otherwise it replaces the stored one. */
  readonly merge: boolean;
}

/** A location as records store it. */
export interface StoredLocation {
  readonly location: string;
  readonly locationKey: string;
}

/** Returns the changed location of a record (`before` is JSON text); merging is shallow. Throws INVALID_ARGUMENT when the merged location is too large. */
export function changeLocation(before: string | undefined, { newLocation, merge }: LocationChange): Location {
  if (!merge || before === undefined) return newLocation;
  const { success, data } = Location.safeParse(withFields(JSON.parse(before) as object, newLocation));
  if (!success) throw tooLarge();
  return data;
}

/** Merges two objects like a spread, but keeps a key named `__proto__`. */
function withFields(before: object, after: object): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(after)]);
}

/** Returns a location as records store it. */
export function storedLocation(location: Location): StoredLocation {
  return { location: JSON.stringify(location), locationKey: locationKey(location) };
}

/** Returns the error for a location, or a record with its new location, that would be too large to store. */
export function tooLarge(): Error {
  return invalid({
    path: ['migrate', 'newLocation'],
    code: 'too_big',
    message: 'migrate.newLocation makes a location or its content too large',
  });
}
