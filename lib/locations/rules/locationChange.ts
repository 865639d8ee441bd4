import { Location } from '../../content/rules/location.ts';
import { invalid } from '../../shared/errors.ts';

export interface LocationChange {
  readonly newLocation: Location;
  /** Keeps stored first-level fields that `newLocation` lacks. */
  readonly merge: boolean;
}

/** `before` is JSON text. Throws INVALID_ARGUMENT if the result is too large. */
export function changeLocation(before: string | undefined, { newLocation, merge }: LocationChange): Location {
  if (!merge || before === undefined) return newLocation;
  const { success, data } = Location.safeParse(withFields(JSON.parse(before) as object, newLocation));
  if (!success) throw tooLarge();
  return data;
}

/** Unlike a spread, keeps a key named `__proto__`. */
function withFields(before: object, after: object): Record<string, unknown> {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(after)]);
}

export function tooLarge(): Error {
  return invalid({
    path: ['migrate', 'newLocation'],
    code: 'too_big',
    message: 'migrate.newLocation makes a location or its content too large',
  });
}
