import { decodePart, encodePart } from '../shared/keyParts.ts';

const SEPARATOR = '#';

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
  return decodePart(PK.split(SEPARATOR)[1] ?? '') ?? '';
}

/** Returns a part of a sort key that sorts by the number. */
export function sortableNumber(value: number): string {
  return String(value).padStart(16, '0');
}
