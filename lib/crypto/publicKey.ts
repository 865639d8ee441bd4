import { constants, createPublicKey, type KeyObject, publicEncrypt } from 'node:crypto';

const MIN_BITS = 2_048;

const PEM = /^\s*-----BEGIN ((?:RSA )?PUBLIC KEY)-----([^-]+)-----END ((?:RSA )?PUBLIC KEY)-----\s*$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads an RSA public key of at least 2048 bits in SPKI or PKCS#1, as PEM or as its base64. Undefined for any other
 * text, and for a key that cannot encrypt.
 */
export function parsePublicKey(text: string): KeyObject | undefined {
  const [, begin, body, end] = PEM.exec(text) ?? [];
  const base64 = (body !== undefined && begin === end ? body : text).replace(/\s/g, '');
  if (!BASE64.test(base64)) return undefined;
  const der = Buffer.from(base64, 'base64');
  const key = readDer(der, 'spki') ?? readDer(der, 'pkcs1');
  return key && isUsable(key) ? key : undefined;
}

function readDer(der: Buffer, type: 'spki' | 'pkcs1'): KeyObject | undefined {
  try {
    const read = createPublicKey({ key: der, format: 'der', type });
    if (read.asymmetricKeyType !== 'rsa') return undefined;
    // Node cannot export a key as PKCS#1 that it read as PKCS#1, so it is built again from its numbers.
    const key = createPublicKey({ key: read.export({ format: 'jwk' }), format: 'jwk' });
    // Node also accepts private keys and additional bytes. The exported key then differs from the input.
    return key.export({ format: 'der', type }).equals(der) ? key : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL rejects some keys only when they encrypt. */
function isUsable(key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_BITS || publicExponent < 3n || publicExponent % 2n === 0n) return false;
  const number = Buffer.alloc(Math.ceil(modulusLength / 8));
  number.writeUInt8(2, number.length - 1);
  try {
    publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, number);
    return true;
  } catch {
    return false;
  }
}
