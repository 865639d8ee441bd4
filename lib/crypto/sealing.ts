import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A key of 32 bytes (HKDF-SHA-256). `context` identifies owner and purpose. */
export function deriveKey(secret: string | Uint8Array, context: readonly string[]): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', JSON.stringify(context), 32));
}

/** AES-256-GCM. Returns IV, ciphertext and tag. Decryption needs the same `bound` (additional authenticated data). */
export function sealBytes(key: Uint8Array, plain: Uint8Array, bound: readonly string[]): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(JSON.stringify(bound)));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined if the key, `bound` or any bit is different. */
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
