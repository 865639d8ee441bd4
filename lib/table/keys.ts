import { decodePart, encodePart } from '../shared/keyParts.ts';

const SEPARATOR = '#';

export function joinKey(parts: readonly string[]): string {
  return parts.map(encodePart).join(SEPARATOR);
}

/** The separator at the end keeps the prefix for `doc1` from matching `doc10`. */
export function keyPrefix(parts: readonly string[]): string {
  return parts.length === 0 ? '' : joinKey(parts) + SEPARATOR;
}

/** Sorts directly after all keys that begin with these parts: `$` follows the separator. */
export function keyAfter(parts: readonly string[]): string {
  return `${joinKey(parts)}$`;
}

export function tenantOf({ PK }: { readonly PK: string }): string {
  return decodePart(PK.split(SEPARATOR)[1] ?? '') ?? '';
}

export function sortableNumber(value: number): string {
  return String(value).padStart(16, '0');
}
