import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Returns a new RSA key pair. */
export function rsaKeyPair(modulusLength = 2_048): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength });
}

/** Returns a key as PEM. */
export function pemOf(key: KeyObject, type: 'spki' | 'pkcs1' | 'pkcs8'): string {
  return key.export({ format: 'pem', type }) as string;
}

/** Returns the base64 text of a PEM without its header, footer and line breaks. */
export function bodyOf(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}
