import type { OpenKeys } from './shapes.ts';

/** What stands where a secret is, in answers and in what is stored; sent back it keeps the stored one. */
export const REDACTED = '__redacted__';

export type Path = readonly (string | number)[];

/** Fields of an `auth` block that are no secrets. */
const openAuthFields: ReadonlySet<string> = new Set(['type', 'username']);
/** Names of headers and query parameters that carry credentials. */
const CREDENTIAL_NAME =
  /auth(?!or(?!i))|cookie|token(?!s)|secret|passw|credential|signature|session|api[-_.]?key|access[-_.]?key|^key$/i;

/** Where a value stands: beneath a `secret` place every text and number is one, in `auth` all but what is open there, in `named` what has a name that says so. */
type Surroundings = 'open' | 'named' | 'auth' | 'secret';

type Visit = (secret: string | number, path: Path, scope: string) => unknown;

/**
 * A configuration with each of its secrets replaced by what `visit` gives, in the order in which they stand: everything in a block named
 * `auth` at any depth but its type and username, and headers and query parameters whose names tell credentials. A secret's place
 * names list items that have an id by it, and others by their index.
 */
function mapSecrets<T>(value: T, visit: Visit): T {
  return mapValue(value, 'open', [], [], visit) as T;
}

function mapValue(value: unknown, around: Surroundings, path: Path, scope: Path, visit: Visit): unknown {
  if (Array.isArray(value))
    return value.map((item, index) =>
      mapValue(item, around, [...path, index], [...scope, placeOf(item, index)], visit),
    );
  if (typeof value === 'object' && value !== null) {
    // Not by assignment, which would set the prototype where a key is called `__proto__`.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        mapValue(item, within(key, item, around), [...path, key], [...scope, key], visit),
      ]),
    );
  }
  const isSecret =
    (around === 'auth' || around === 'secret') && (typeof value === 'string' || typeof value === 'number');
  return isSecret ? visit(value, path, JSON.stringify(scope)) : value;
}

function within(key: string, value: unknown, around: Surroundings): Surroundings {
  if (around === 'secret') return 'secret';
  if (around === 'auth') return openAuthFields.has(key) && typeof value !== 'object' ? 'open' : 'secret';
  if (key === 'auth') return 'auth';
  if (around === 'named' && CREDENTIAL_NAME.test(key)) return 'secret';
  return key === 'headers' || key === 'query' ? 'named' : 'open';
}

function placeOf(item: unknown, index: number): string | number {
  const id = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
  return typeof id === 'string' ? id : index;
}

/** A configuration without its secrets, and they in the order in which they stand. */
export function hideSecrets<T extends OpenKeys>(
  configuration: T,
): { readonly shown: T; readonly secrets: readonly (string | number)[] } {
  const secrets: (string | number)[] = [];
  const shown = mapSecrets(configuration, (secret) => {
    secrets.push(secret);
    return REDACTED;
  });
  return { shown, secrets };
}

/** What `hideSecrets` hid, in its places again. */
export function revealSecrets<T extends OpenKeys>(shown: T, secrets: readonly (string | number)[]): T {
  const left = [...secrets];
  return mapSecrets(shown, () => {
    const secret = left.shift();
    if (secret === undefined) throw new Error('A configuration has more places of secrets than secrets');
    return secret;
  });
}

/** What was sent with the stored secrets where it says `__redacted__`, and the fields that say so where nothing is stored. */
export function keepSecrets<T extends OpenKeys>(
  sent: T,
  stored: OpenKeys = {},
): { readonly kept: T; readonly missing: readonly Path[] } {
  const known = new Map<string, string | number | undefined>();
  // Two items of a list with one id: which of them is meant cannot be told, so neither is kept.
  mapSecrets(stored, (secret, _path, scope) => known.set(scope, known.has(scope) ? undefined : secret));
  const missing: Path[] = [];
  const kept = mapSecrets(sent, (secret, path, scope) => {
    if (secret !== REDACTED) return secret;
    const before = known.get(scope);
    if (before === undefined) missing.push(path);
    return before ?? REDACTED;
  });
  return { kept, missing };
}
