import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** DER, PKCS #8 (RFC 8410). The 32 bytes of the seed follow. */
const PRIVATE_KEY_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
/** DER, SPKI (RFC 8410). The 32 bytes of the key follow. */
const PUBLIC_KEY_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

export interface SigningKeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: Uint8Array;
}

export function keyPairOf(seed: Uint8Array): SigningKeyPair {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_HEADER, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: new Uint8Array(publicKey.subarray(PUBLIC_KEY_HEADER.length)) };
}

export function isSignedBy(publicKey: Uint8Array, text: string, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_KEY_HEADER, publicKey]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, signature);
}
