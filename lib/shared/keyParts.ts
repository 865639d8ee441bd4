import { hash } from 'node:crypto';

const MAX_BYTES = 200;

/**
 * Escapes `#`, `~` and `%`, so different parts never make the same key. If the result has more than 200 bytes, returns
 * `~` and the SHA-256 of the part, because a sort key has at most 1,024 bytes and an id up to 1,536.
 */
export function encodePart(part: string): string {
  const escaped = part.replace(/[#%~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  if (escaped.length <= MAX_BYTES / 3 || Buffer.byteLength(escaped) <= MAX_BYTES) return escaped;
  return `~${hash('sha256', part, 'base64url')}`;
}

/** Returns undefined for a part that is a hash. */
export function decodePart(part: string): string | undefined {
  if (part.startsWith('~')) return undefined;
  return part.replace(/%([0-9a-f]{2})/g, (_escaped, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
