import * as z from 'zod';
import { parsePublicKey } from '../../crypto/publicKey.ts';
import { invalid } from '../../shared/errors.ts';

/** The longest key that works has 16,384 bits, which are 2,900 characters as PEM. */
const MAX_KEY_CHARACTERS = 8_192;

export const bodyTexts = {
  encryptData:
    'Whether bodies are encrypted: `{ encryptedData, encryptedKey, iv }`, AES-256-CBC with a key under RSA-OAEP with SHA-256. Needs `publicKey`. By default false.',
  encodeData:
    'Whether the body is `{ encodedPayload }`, the payload as base64. Without effect while bodies are encrypted. By default false.',
  publicKey:
    'Your RSA key of at least 2048 bits for `encryptData`: SPKI or PKCS#1, as PEM or as the base64 inside it. Empty if there is none.',
  enableDataProtection:
    'Whether payloads have only ids, times, numbers and words of the service, and no names, addresses, texts, URLs and fields of your own. By default false.',
} as const;

export const PublicKey = z
  .string()
  .max(MAX_KEY_CHARACTERS)
  .check(
    z.refine((text) => text === '' || parsePublicKey(text) !== undefined, {
      error: 'must be an RSA public key of at least 2048 bits: SPKI or PKCS#1, as PEM or as the base64 inside it',
    }),
  );

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
