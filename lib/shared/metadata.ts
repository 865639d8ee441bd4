import { isLongerThan } from './bytes.ts';
import { limits } from './schema.ts';

/**
 * A sent field replaces the stored one. `metadata` is the new JSON text, or undefined if no fields remain. `refused` is
 * the error if the text would exceed 64 KB.
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
