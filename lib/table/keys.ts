import { hash } from 'node:crypto';

const SEPARATOR = '#';
const MAX_PART_BYTES = 200;

/**
 * Returns a part of a key with `#`, `~` and `%` escaped, so different parts never make the same key. A part of more than 200 bytes
 * becomes `~` and its SHA-256, because a sort key has at most 1,024 bytes and an id up to 1,536.
 */
export function encodePart(part: string): string {
  const escaped = part.replace(/[#%~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  // A character has at most 3 bytes, so most parts need no count of their bytes.
  if (escaped.length <= MAX_PART_BYTES / 3 || Buffer.byteLength(escaped) <= MAX_PART_BYTES) return escaped;
  return `~${hash('sha256', part, 'base64url')}`;
}

export function joinKey(parts: readonly string[]): string {
  return parts.map(encodePart).join(SEPARATOR);
}

/**
 * Returns the prefix of all keys that begin with these parts. It ends with the separator, so that the prefix for `doc1` does not
 * match `doc10`.
 */
export function keyPrefix(parts: readonly string[]): string {
  return parts.length === 0 ? '' : joinKey(parts) + SEPARATOR;
}

/** Returns a key that sorts directly after all keys that begin with these parts. `$` sorts directly after the separator. */
export function keyAfter(parts: readonly string[]): string {
  return `${joinKey(parts)}$`;
}

/** Returns the tenant in a key. The service generates tenant ids, and they are too short to be hashed. */
export function tenantOf({ PK }: { readonly PK: string }): string {
  return (PK.split(SEPARATOR)[1] ?? '').replace(/%([0-9a-f]{2})/g, (_escaped, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
