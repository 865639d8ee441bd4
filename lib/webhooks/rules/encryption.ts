import * as z from 'zod';
import { parsePublicKey } from '../../crypto/publicKey.ts';
import { invalid } from '../../shared/errors.ts';

/** A 16,384-bit key, the longest that works, is 2,900 characters as PEM. */
const LONGEST_KEY = 8_192;

/** The key that payloads are encrypted with; the empty string clears it. It is kept and shown as it was sent. */
export const PublicKey = z
  .string()
  .max(LONGEST_KEY)
  .check(
    z.refine((text) => text === '' || parsePublicKey(text) !== undefined, {
      error: 'must be an RSA public key of at least 2048 bits: SPKI or PKCS#1, as PEM or as the base64 inside it',
    }),
  );

/**
 * Payloads can be encrypted only for somebody (design 6): INVALID_ARGUMENT when a configuration, as it would be stored,
 * wants encryption and has no key. `path` leads to the key.
 */
export function requireKeyToEncrypt(
  config: { encryptData?: boolean | undefined; publicKey?: string | undefined },
  path: readonly string[],
): void {
  if (!config.encryptData || config.publicKey) return;
  throw invalid({
    path: [...path],
    code: 'missing_public_key',
    message: `${path.join('.')} is required while encryptData is true`,
  });
}
