import type { OpenKeys } from './behaviourShape.ts';

/** Stands in place of a secret in responses and in stored configurations. In a request it keeps the stored secret. */
export const REDACTED = '__redacted__';

type Secret = string | number;
export type Path = readonly (string | number)[];

/** Fields of an `auth` block that are not secret. */
const openAuthFields: ReadonlySet<string> = new Set(['type', 'username']);
/** Names of headers and query parameters that hold credentials. */
const CREDENTIAL_NAME =
  /auth(?!or(?!i))|cookie|token(?!s)|secret|passw|credential|signature|session|api[-_.]?key|access[-_.]?key|^key$/i;

/**
 * `auth`: every text and number is secret, except the open fields. `parameters`: a value with a credential's name is
 * secret. `secret`: all are.
 */
type Region = 'open' | 'parameters' | 'auth' | 'secret';

interface Position {
  readonly region: Region;
  readonly path: Path;
  /**
   * As `path`, but an item of a list is named by its `id` if it has one. It finds the item again when the list is
   * reordered.
   */
  readonly identity: Path;
}

type Replace = (secret: Secret, path: Path, identity: string) => unknown;

/**
 * Returns a configuration with each secret replaced, in document order. Secrets are the texts and numbers in `auth`
 * blocks at any depth, except type and username, and the headers and query parameters with the name of a credential.
 */
function replaceSecrets<T>(configuration: T, replace: Replace): T {
  return replaceIn(configuration, { region: 'open', path: [], identity: [] }, replace) as T;
}

function replaceIn(value: unknown, { region, path, identity }: Position, replace: Replace): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      replaceIn(item, { region, path: [...path, index], identity: [...identity, idOf(item) ?? index] }, replace),
    );
  if (typeof value === 'object' && value !== null) {
    // `Object.fromEntries` keeps a key `__proto__`; an assignment would set the prototype.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]: [string, unknown]) => {
        const position = { region: regionOf(key, item, region), path: [...path, key], identity: [...identity, key] };
        return [key, replaceIn(item, position, replace)];
      }),
    );
  }
  const isSecret =
    (region === 'auth' || region === 'secret') && (typeof value === 'string' || typeof value === 'number');
  return isSecret ? replace(value, path, JSON.stringify(identity)) : value;
}

function regionOf(key: string, value: unknown, parent: Region): Region {
  if (parent === 'secret') return 'secret';
  if (parent === 'auth') return openAuthFields.has(key) && typeof value !== 'object' ? 'open' : 'secret';
  if (key === 'auth') return 'auth';
  if (parent === 'parameters' && CREDENTIAL_NAME.test(key)) return 'secret';
  return key === 'headers' || key === 'query' ? 'parameters' : 'open';
}

function idOf(item: unknown): string | undefined {
  const id = typeof item === 'object' && item !== null && 'id' in item ? item.id : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Returns a configuration without its secrets, and the secrets in document order. */
export function hideSecrets<T extends OpenKeys>(
  configuration: T,
): { readonly redacted: T; readonly secrets: readonly Secret[] } {
  const secrets: Secret[] = [];
  const redacted = replaceSecrets(configuration, (secret) => {
    secrets.push(secret);
    return REDACTED;
  });
  return { redacted, secrets };
}

/** Returns the configuration that `hideSecrets` redacted. */
export function revealSecrets<T extends OpenKeys>(redacted: T, secrets: readonly Secret[]): T {
  const rest = secrets.values();
  return replaceSecrets(redacted, () => {
    const { value } = rest.next();
    if (value === undefined) throw new Error('A configuration has more places of secrets than secrets');
    return value;
  });
}

/**
 * Returns the sent configuration with the stored secret in place of `__redacted__`, and the paths where no secret is
 * stored.
 */
export function keepSecrets<T extends OpenKeys>(
  sent: T,
  stored: OpenKeys = {},
): { readonly kept: T; readonly missing: readonly Path[] } {
  const storedSecrets = new Map<string, Secret | undefined>();
  replaceSecrets(stored, (secret, _path, identity) => {
    // Two items of a list with the same id are ambiguous, so neither secret is kept.
    storedSecrets.set(identity, storedSecrets.has(identity) ? undefined : secret);
  });
  const missing: Path[] = [];
  const kept = replaceSecrets(sent, (secret, path, identity) => {
    if (secret !== REDACTED) return secret;
    const storedSecret = storedSecrets.get(identity);
    if (storedSecret === undefined) missing.push(path);
    return storedSecret ?? REDACTED;
  });
  return { kept, missing };
}
