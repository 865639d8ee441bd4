import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** The DER header of an Ed25519 private key (PKCS #8, RFC 8410). The 32 bytes of the seed follow it. */
const PRIVATE_KEY_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The DER header of an Ed25519 public key (SPKI, RFC 8410). The 32 bytes of the key follow it. */
const PUBLIC_KEY_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

export interface SigningKeyPair {
  readonly privateKey: KeyObject;
  /** The public key, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Returns the Ed25519 key pair that a seed of 32 bytes determines. */
export function keyPairOf(seed: Uint8Array): SigningKeyPair {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_HEADER, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return { privateKey, publicKey: new Uint8Array(publicKey.subarray(PUBLIC_KEY_HEADER.length)) };
}

/** Returns whether `signature` is a valid Ed25519 signature of `text` for `publicKey` (32 bytes). */
export function isSignedBy(publicKey: Uint8Array, text: string, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_KEY_HEADER, publicKey]), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, signature);
}
