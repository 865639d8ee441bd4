import { isLongerThan } from './bytes.ts';
import { limits } from './schema.ts';

/**
 * The caller's own fields of something, as JSON text, after others were sent: a field that is sent replaces the stored one of its name, the others
 * stay. Refused when all of them together are larger than one call could send.
 */
export function mergeMetadata(
  stored: string | undefined,
  sent: Readonly<Record<string, unknown>>,
): { readonly metadata: string | undefined } | { readonly refused: string } {
  // Spread, unlike assignment, takes `__proto__` for a field like any other.
  const merged = { ...(stored === undefined ? {} : (JSON.parse(stored) as object)), ...sent };
  if (Object.keys(merged).length === 0) return { metadata: undefined };
  const metadata = JSON.stringify(merged);
  if (isLongerThan(metadata, limits.objectBytes))
    return { refused: `The fields together would be larger than ${limits.objectBytes / 1024} KB.` };
  return { metadata };
}
