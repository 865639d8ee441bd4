import { createHash } from 'node:crypto';

const SEPARATOR = '#';
const LONGEST_PART = 200;

/**
 * One part of a key, so that parts can be joined without meeting: `#`, `~` and `%` are escaped, and a part of more than
 * 200 bytes becomes `~` and its SHA-256 (a sort key holds 1,024 bytes, an identifier up to 1,536).
 */
export function encodePart(part: string): string {
  const escaped = part.replace(/[#%~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  if (Buffer.byteLength(escaped) <= LONGEST_PART) return escaped;
  return `~${createHash('sha256').update(part).digest('base64url')}`;
}

/** The parts joined to a whole key. */
export function joinKey(parts: readonly string[]): string {
  return parts.map(encodePart).join(SEPARATOR);
}

/** The parts joined to a prefix, which ends with the separator: the prefix of `doc1` does not match `doc10`. */
export function keyPrefix(parts: readonly string[]): string {
  return parts.length === 0 ? '' : joinKey(parts) + SEPARATOR;
}

/** The tenant in whose partition a key lies. Its ids are ours, and never so long that only a hash of them is left. */
export function tenantOf({ PK }: { readonly PK: string }): string {
  return (PK.split(SEPARATOR)[1] ?? '').replace(/%([0-9a-f]{2})/g, (_escaped, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
