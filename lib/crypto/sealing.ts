import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Derives a 32-byte key for one purpose from a secret (HKDF-SHA-256). `context` identifies the owner and the purpose. */
export function deriveKey(secret: string | Uint8Array, context: readonly string[]): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(context), 32));
}

/**
 * Encrypts `plain` with AES-256-GCM. `bound` is additional authenticated data: decryption needs the same key and the same `bound`,
 * which the result does not contain. Returns a random IV, the ciphertext and the tag in one buffer.
 */
export function sealBytes(key: Uint8Array, plain: Uint8Array, bound: readonly string[]): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(JSON.stringify(bound)));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a result of `sealBytes`. Returns undefined if the key, `bound` or any bit is different. */
export function openBytes(key: Uint8Array, sealed: Uint8Array, bound: readonly string[]): Buffer | undefined {
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAAD(Buffer.from(JSON.stringify(bound)));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, sealed.length - TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
