import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parsePublicKey } from '../../../lib/crypto/publicKey.ts';
import { bodyOf, pemOf, rsaKeyPair, rsaPublicKey } from '../../support/rsaKeys.ts';

const { publicKey, privateKey } = rsaKeyPair();
const [spki, pkcs1] = [pemOf(publicKey, 'spki'), pemOf(publicKey, 'pkcs1')];

describe('a usable public key', () => {
  test.each([
    ['SPKI as PEM', spki],
    ['PKCS#1 as PEM', pkcs1],
    ['SPKI without PEM lines', bodyOf(spki)],
    ['PKCS#1 without PEM lines', bodyOf(pkcs1)],
    ['base64 in lines', bodyOf(spki).replace(/.{64}/g, '$&\n')],
    ['PEM with Windows line ends', spki.replaceAll('\n', '\r\n')],
    ['PEM in one line', spki.trim().replaceAll('\n', ' ')],
    ['PEM pasted with space around it', `\n\n  ${pkcs1}\n `],
  ])('is accepted as %s. Its private key decrypts what it encrypts', (_what, text) => {
    const key = parsePublicKey(text);
    const secret = Buffer.from('a symmetric key of 32 bytes, say');
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    expect(privateDecrypt({ key: privateKey, ...padding }, publicEncrypt({ key: key!, ...padding }, secret))).toEqual(
      secret,
    );
  });

  test.each([3_072, 4_096])('may have %i bits', (bits) => {
    expect(parsePublicKey(pemOf(rsaPublicKey(bits), 'spki'))?.asymmetricKeyDetails?.modulusLength).toBe(bits);
  });
});

describe('an unusable public key', () => {
  const short = rsaPublicKey(1_024);
  const almost = rsaPublicKey(2_040);
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const edwards = generateKeyPairSync('ed25519').publicKey;
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).publicKey;
  const modulus = Buffer.from(publicKey.export({ format: 'jwk' }).n!, 'base64url');
  const even = Buffer.from(modulus);
  even[even.length - 1]! &= 0xfe;

  test.each([
    ['nothing', ''],
    ['space', ' \n'],
    ['a word', 'key'],
    ['base64 of other data', Buffer.from('not a key').toString('base64')],
    ['a text that is not base64', '-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----'],
    ['1024 bits', pemOf(short, 'spki')],
    ['1024 bits without PEM lines', bodyOf(pemOf(short, 'pkcs1'))],
    ['2040 bits', pemOf(almost, 'spki')],
    ['an elliptic curve', pemOf(elliptic, 'spki')],
    ['Ed25519', bodyOf(pemOf(edwards, 'spki'))],
    ['RSA for signatures alone', pemOf(pss, 'spki')],
    ['a private key, PKCS#8', pemOf(privateKey, 'pkcs8')],
    ['a private key, PKCS#1', pemOf(privateKey, 'pkcs1')],
    ['a private key, PKCS#8, without PEM lines', bodyOf(pemOf(privateKey, 'pkcs8'))],
    ['a private key, PKCS#1, without PEM lines', bodyOf(pemOf(privateKey, 'pkcs1'))],
    ['a private key in a public PEM block', pemOf(privateKey, 'pkcs8').replaceAll('PRIVATE', 'PUBLIC')],
    ['two keys', spki + spki],
    [
      'a key with more data',
      Buffer.concat([Buffer.from(bodyOf(spki), 'base64'), Buffer.from('more')]).toString('base64'),
    ],
    ['half a key', bodyOf(spki).slice(0, 200)],
    ['a PEM block that ends as something else', spki.replace('END PUBLIC', 'END RSA PUBLIC')],
    ['a PEM block of another kind', spki.replaceAll('PUBLIC KEY', 'CERTIFICATE')],
    ['a key that does not encrypt: exponent 1', pkcs1Of(modulus, [1])],
    ['an even exponent', pkcs1Of(modulus, [1, 0, 0])],
    [
      'an exponent that OpenSSL does not support',
      pkcs1Of(Buffer.concat([modulus, modulus]), [1, ...new Array<number>(20).fill(0), 1]),
    ],
    ['an even modulus', pkcs1Of(even, [1, 0, 1])],
    ['a modulus that is too long', pkcs1Of(Buffer.alloc(4_096, 0xff), [1, 0, 1])],
  ])('is rejected: %s', (_what, text) => {
    expect(parsePublicKey(text)).toBeUndefined();
  });

  test('is rejected for its fault only, because an equally encoded valid key is accepted', () => {
    expect(parsePublicKey(pkcs1Of(modulus, [1, 0, 1]))).toBeDefined();
  });
});

/** Returns a PKCS#1 public key that has this modulus and exponent, as base64. */
function pkcs1Of(modulus: Buffer, exponent: readonly number[]): string {
  return der(0x30, Buffer.concat([integer(modulus), integer(Buffer.from(exponent))])).toString('base64');
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function der(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...derLength(content.length)]), content]);
}

function derLength(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return [0x82, length >> 8, length & 0xff];
}
