import { isObject } from '../../shared/collections.ts';
import type { OpenKeys } from './behaviourShape.ts';

/** Replaces a secret in responses and in stored configurations. In a request, it keeps the stored secret. */
export const REDACTED = '__redacted__';

type Secret = string | number;
export type Path = readonly (string | number)[];

const openAuthFields: ReadonlySet<string> = new Set(['type', 'username']);
const CREDENTIAL_NAME =
  /auth(?!or(?!i))|cookie|token(?!s)|secret|passw|credential|signature|session|api[-_.]?key|access[-_.]?key|^key$/i;

/**
 * Which texts and numbers in a part of a configuration are secret:
 *
 * - `open`: none
 * - `parameters`: those whose name matches `CREDENTIAL_NAME`
 * - `auth`: all except those of `openAuthFields`
 * - `secret`: all
 */
type Region = 'open' | 'parameters' | 'auth' | 'secret';

interface SecretPosition {
  readonly region: Region;
  readonly path: Path;
  /**
   * `path` with the `id` of each list item instead of its index, so it survives a reordering. An item without an `id`
   * keeps its index.
   */
  readonly identity: Path;
}

type Replace = (secret: Secret, path: Path, identity: string) => unknown;

/** Calls `replace` for each secret, in document order. */
function replaceSecrets<T>(configuration: T, replace: Replace): T {
  return replaceIn(configuration, { region: 'open', path: [], identity: [] }, replace) as T;
}

function replaceIn(value: unknown, { region, path, identity }: SecretPosition, replace: Replace): unknown {
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      replaceIn(item, { region, path: [...path, index], identity: [...identity, idOf(item) ?? index] }, replace),
    );
  if (isObject(value)) {
    // An assignment would lose a key `__proto__`.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
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
  return isObject(item) && typeof item.id === 'string' ? item.id : undefined;
}

/** Returns a configuration with `__redacted__` instead of its secrets, and the secrets in document order. */
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

export function revealSecrets<T extends OpenKeys>(redacted: T, secrets: readonly Secret[]): T {
  const remaining = secrets.values();
  return replaceSecrets(redacted, () => {
    const { value } = remaining.next();
    if (value === undefined) throw new Error('A redacted configuration has more secrets than are stored');
    return value;
  });
}

/** Puts the stored secret in place of each `__redacted__`. `missingPaths` has the paths without a stored secret. */
export function keepSecrets<T extends OpenKeys>(
  sent: T,
  stored: OpenKeys = {},
): { readonly configuration: T; readonly missingPaths: readonly Path[] } {
  const storedSecrets = new Map<string, Secret | undefined>();
  replaceSecrets(stored, (secret, _path, identity) => {
    // If two items of a list have the same id, the secrets of both are ambiguous and are not kept.
    storedSecrets.set(identity, storedSecrets.has(identity) ? undefined : secret);
  });
  const missingPaths: Path[] = [];
  const configuration = replaceSecrets(sent, (secret, path, identity) => {
    if (secret !== REDACTED) return secret;
    const storedSecret = storedSecrets.get(identity);
    if (storedSecret === undefined) missingPaths.push(path);
    return storedSecret ?? REDACTED;
  });
  return { configuration, missingPaths };
}
