import { Location } from '../../content/rules/location.ts';
import { invalid } from '../../shared/errors.ts';

/** The change of a stored location by `locations/update`. */
export interface LocationChange {
  readonly newLocation: Location;
  /** If true, the first-level fields of `newLocation` are merged into the stored location. If false, `newLocation` replaces it. */
  readonly merge: boolean;
}

/**
 * Returns the location of a record after a change. `before` is the stored location as JSON text. Throws INVALID_ARGUMENT if the
 * merged location is too large.
 */
export function changeLocation(before: string | undefined, { newLocation, merge }: LocationChange): Location {
  if (!merge || before === undefined) return newLocation;
  const { success, data } = Location.safeParse(withFields(JSON.parse(before) as object, newLocation));
  if (!success) throw tooLarge();
  return data;
}

/** Returns the fields of both objects. A field of `after` replaces the same field of `before`. A key named `__proto__` is kept. */
function withFields(before: object, after: object): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(after)]);
}

/** Returns the error for a location that is too large to store, or that makes its record too large. */
export function tooLarge(): Error {
  return invalid({
    path: ['migrate', 'newLocation'],
    code: 'too_big',
    message: 'migrate.newLocation makes a location or its content too large',
  });
}
