import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** Returns a new RSA key pair. */
export function rsaKeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

/** Returns an RSA public key that has no private key. This takes no time, because its modulus is any odd number. */
export function rsaPublicKey(modulusLength: number): KeyObject {
  const modulus = randomBytes(modulusLength / 8);
  modulus[0]! |= 0x80;
  modulus[modulus.length - 1]! |= 1;
  return createPublicKey({ key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }, format: 'jwk' });
}

/** Returns a key as PEM. */
export function pemOf(key: KeyObject, type: 'spki' | 'pkcs1' | 'pkcs8'): string {
  return key.export({ format: 'pem', type }) as string;
}

/** Returns the base64 text of a PEM without its header, footer and line breaks. */
export function bodyOf(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}
