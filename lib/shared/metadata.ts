import { isLongerThan } from './bytes.ts';
import { limits } from './schema.ts';

/**
 * Merges sent fields into stored metadata (JSON text) and returns the new JSON text. A sent field replaces the stored field of its name. Returns `refused`
 * if the result is larger than one call can send.
 */
export function mergeMetadata(
  stored: string | undefined,
  sent: Readonly<Record<string, unknown>>,
): { readonly metadata: string | undefined } | { readonly refused: string } {
  // Spread, unlike assignment, copies a field named `__proto__`.
  const merged = { ...(stored === undefined ? {} : (JSON.parse(stored) as object)), ...sent };
  if (Object.keys(merged).length === 0) return { metadata: undefined };
  const metadata = JSON.stringify(merged);
  if (isLongerThan(metadata, limits.objectBytes))
    return { refused: `The fields together would be larger than ${limits.objectBytes / 1024} KB.` };
  return { metadata };
}
