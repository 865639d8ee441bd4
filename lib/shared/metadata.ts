import { isLongerThan } from './bytes.ts';
import { limits } from './schema.ts';

/**
 * Merges sent fields into stored metadata (JSON text) and returns the new JSON text, or undefined without any field. A
 * sent field replaces the stored field of the same name. If the result exceeds 64 KB, returns the error message in
 * `refused`.
 */
export function mergeMetadata(
  stored: string | undefined,
  sent: Readonly<Record<string, unknown>>,
): { readonly metadata: string | undefined } | { readonly refused: string } {
  // Unlike an assignment, spread copies a field named `__proto__`.
  const merged = { ...(stored === undefined ? {} : (JSON.parse(stored) as object)), ...sent };
  if (Object.keys(merged).length === 0) return { metadata: undefined };
  const metadata = JSON.stringify(merged);
  if (isLongerThan(metadata, limits.objectBytes))
    return { refused: `The fields together would be larger than ${limits.objectBytes / 1024} KB.` };
  return { metadata };
}
