import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { parsePublicKey } from '../../crypto/publicKey.ts';

/** How payloads are wrapped: the fields of both webhook configurations that say so. */
export interface Wrapping {
  readonly encodeData?: boolean | undefined;
  readonly encryptData?: boolean | undefined;
  readonly publicKey?: string | undefined;
}

/** The body of a delivery as it is signed and sent; or why there is none, which is a failed attempt. */
export type Encoded =
  { readonly body: string; readonly contentType: string } | { readonly error: 'public key unusable' };

/**
 * A payload, wrapped as the configuration says (facts B7, B10): as it is, `{ encodedPayload }`, or `{ encryptedData,
 * encryptedKey, iv }`; encryption wins over encoding (design 6). The key and the IV are made anew each time.
 */
export function encodeBody(json: string, { encodeData, encryptData, publicKey }: Wrapping): Encoded {
  if (encryptData) {
    const envelope = encrypt(json, publicKey ?? '');
    return envelope ? asJson(envelope) : { error: 'public key unusable' };
  }
  return encodeData
    ? asJson({ encodedPayload: Buffer.from(json).toString('base64') })
    : { body: json, contentType: CONTENT_TYPE };
}

const CONTENT_TYPE = 'application/json';

function asJson(envelope: object): Encoded {
  return { body: JSON.stringify(envelope), contentType: CONTENT_TYPE };
}

/** AES-256-CBC with a random key, which RSA-OAEP with SHA-256 hides; undefined when the public key cannot be used. */
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
