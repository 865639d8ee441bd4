import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { parsePublicKey } from '../../crypto/publicKey.ts';

export interface BodyEncoding {
  readonly encodeData?: boolean | undefined;
  readonly encryptData?: boolean | undefined;
  readonly publicKey?: string | undefined;
}

export type EncodedBody = { readonly body: string } | { readonly error: 'public key unusable' };

/**
 * `{ encryptedData, encryptedKey, iv }`, `{ encodedPayload }`, or the unchanged payload. If both options are on, the
 * payload is encrypted. Each encryption has a new key and IV.
 */
export function encodeBody(json: string, { encodeData, encryptData, publicKey }: BodyEncoding): EncodedBody {
  if (encryptData) {
    const envelope = encrypt(json, publicKey ?? '');
    return envelope ? { body: JSON.stringify(envelope) } : { error: 'public key unusable' };
  }
  return { body: encodeData ? JSON.stringify({ encodedPayload: Buffer.from(json).toString('base64') }) : json };
}

/**
 * Encrypts `text` with AES-256-CBC and a random key, and this key with RSA-OAEP and SHA-256. Returns undefined for an
 * unusable public key.
 */
function encrypt(
  text: string,
  publicKey: string,
): { encryptedData: string; encryptedKey: string; iv: string } | undefined {
  const rsa = parsePublicKey(publicKey);
  if (!rsa) return undefined;
  const [key, iv] = [randomBytes(32), randomBytes(16)];
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  return {
    encryptedData: cipher.update(text, 'utf8', 'base64') + cipher.final('base64'),
    encryptedKey: publicEncrypt(
      { key: rsa, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      key,
    ).toString('base64'),
    iv: iv.toString('base64'),
  };
}
