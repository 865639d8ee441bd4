import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { TokenIssuer } from '../../../lib/crypto/authTokens.ts';
import { KeyRing } from '../../../lib/crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../../../lib/crypto/sealing.ts';
import { SecretBox } from '../../../lib/crypto/secretBox.ts';
import { matchesAny, tokenHash } from '../../../lib/crypto/tokenHash.ts';
import { openPageToken, paging, sealPageToken } from '../../../lib/http/paging.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';
import { otherSpellings } from '../../support/tokenSpellings.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
const bound = fc.array(fc.string(), { maxLength: 3 });
const NOW = 1_800_000_000_000;

/** Returns a key ring whose secret a test can change. Counts how often the secret is read. */
function ringOf(secret: Record<string, string>) {
  const stored = { secret, reads: 0, failing: false, hanging: false };
  const client = {
    send: async (_command: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
      stored.reads++;
      if (stored.failing) throw new Error('Secrets Manager is away');
      if (stored.hanging)
        await new Promise((_resolve, reject) =>
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error)),
        );
      return { SecretString: JSON.stringify(stored.secret) };
    },
  };
  return { stored, ring: new KeyRing('arn', () => client as unknown as SecretsManagerClient) };
}

function flipped(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

describe('sealBytes and openBytes', () => {
  testProperty('open sealed bytes with the same key and owner', [key, fc.uint8Array(), bound], (secret, plain, of) => {
    expect(openBytes(secret, sealBytes(secret, plain, of), of)).toEqual(Buffer.from(plain));
  });

  test('do not open bytes with any bit changed', () => {
    const sealed = sealBytes(new Uint8Array(32), Buffer.from('a'), []);
    for (let bit = 0; bit < sealed.length * 8; bit++)
      expect(openBytes(new Uint8Array(32), flipped(sealed, bit), [])).toBeUndefined();
  });

  testProperty('do not open bytes with any bit of the key changed', [key, fc.nat({ max: 255 })], (secret, bit) => {
    expect(openBytes(flipped(secret, bit), sealBytes(secret, Buffer.from('text'), ['a']), ['a'])).toBeUndefined();
  });

  test('do not open bytes for another owner', () => {
    fc.assert(
      fc.property(bound, bound, (first, second) => {
        fc.pre(JSON.stringify(first) !== JSON.stringify(second));
        expect(
          openBytes(new Uint8Array(32), sealBytes(new Uint8Array(32), Buffer.from('text'), first), second),
        ).toBeUndefined();
      }),
    );
    const sealed = sealBytes(new Uint8Array(32), Buffer.from('text'), ['ab', 'c']);
    expect(openBytes(new Uint8Array(32), sealed, ['a', 'bc'])).toBeUndefined();
  });

  test('return undefined for shortened, lengthened and other bytes', () => {
    fc.assert(
      fc.property(key, fc.uint8Array({ maxLength: 60 }), (secret, anything) => {
        expect(openBytes(secret, anything, [])).toBeUndefined();
      }),
    );
    const sealed = sealBytes(new Uint8Array(32), Buffer.from('text'), []);
    for (let length = 0; length < sealed.length; length++)
      expect(openBytes(new Uint8Array(32), sealed.subarray(0, length), [])).toBeUndefined();
    expect(openBytes(new Uint8Array(32), Buffer.concat([sealed, Buffer.alloc(1)]), [])).toBeUndefined();
  });

  test('seal the same text differently each time', () => {
    expect(
      new Set(times(100, () => sealBytes(new Uint8Array(32), Buffer.from('text'), []).toString('hex'))),
    ).toHaveProperty('size', 100);
  });

  test('use 32-byte keys from deriveKey, with another key for each secret and purpose', () => {
    const keys = [['a'], ['b'], ['a', 'b'], ['ab'], []].map((context) => deriveKey('secret', context));
    expect(keys.every(({ length }) => length === 32)).toBe(true);
    expect(new Set([...keys, deriveKey('other secret', ['a'])].map((key) => key.toString('hex')))).toHaveProperty(
      'size',
      6,
    );
    expect(deriveKey('secret', ['a'])).toEqual(deriveKey(Buffer.from('secret'), ['a']));
  });
});

describe('SecretBox', () => {
  const owner = { tenant: 'key_a', purpose: 'authToken', id: 'tok_1' };

  test('opens a secret for its owner and names the version of the master key', async () => {
    const box = new SecretBox(ringOf({ current: '1', 1: 'k1' }).ring);
    const sealed = await box.seal('the secret \u{1f680}', owner);
    expect(sealed).toMatch(/^1\.[\w-]+$/);
    expect(await box.open(sealed, owner)).toBe('the secret \u{1f680}');
  });

  test.each([
    ['tenant', 'key_b'],
    ['purpose', 'webhookSecret'],
    ['id', 'tok_2'],
  ] as const)('does not open a secret that was copied to another %s', async (field, value) => {
    const box = new SecretBox(ringOf({ current: '1', 1: 'k1' }).ring);
    const sealed = await box.seal('text', owner);
    await expect(box.open(sealed, { ...owner, [field]: value })).rejects.toThrow(/does not open for its owner/);
  });

  test('opens old secrets after a rotation of the master key and seals new ones under the new key', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    const old = await new SecretBox(ring).seal('text', owner);
    stored.secret = { current: '2', 1: 'k1', 2: 'k2' };
    const box = new SecretBox(ringOf(stored.secret).ring);
    expect(await box.seal('text', owner)).toMatch(/^2\./);
    expect(await box.open(old, owner)).toBe('text');
  });

  test('does not open a secret with the version of another master key', async () => {
    const box = new SecretBox(ringOf({ current: '1', 1: 'k1', 2: 'k2' }).ring);
    const sealed = await box.seal('text', owner);
    await expect(box.open(sealed.replace(/^1/, '2'), owner)).rejects.toThrow();
  });

  test('opens secrets of more tenants than its key cache holds', async () => {
    const box = new SecretBox(ringOf({ current: '1', 1: 'k1' }).ring);
    const sealed = await box.seal('text', owner);
    for (let i = 0; i < 1_100; i++) await box.seal('', { ...owner, tenant: `key_${i}` });
    expect(await box.open(sealed, owner)).toBe('text');
  });
});

describe('KeyRing', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('opens its client at the first read', async () => {
    let opened = 0;
    const send = async () => ({ SecretString: JSON.stringify({ current: '1', 1: 'key' }) });
    const ring = new KeyRing('arn', () => {
      opened++;
      return { send } as unknown as SecretsManagerClient;
    });
    expect(opened).toBe(0);
    expect(await ring.current()).toEqual({ version: '1', key: 'key' });
    expect(opened).toBe(1);
  });

  test('reads the secret again after five minutes, and keeps the old version while Secrets Manager fails', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(NOW);
    expect(await ring.current()).toEqual({ version: '1', key: 'k1' });
    stored.secret = { current: '2', 1: 'k1', 2: 'k2' };
    clock.mockReturnValue(NOW + 5 * 60_000);
    expect(await ring.current()).toEqual({ version: '1', key: 'k1' });
    stored.failing = true;
    clock.mockReturnValue(NOW + 5 * 60_000 + 1);
    expect(await Promise.all([ring.current(), ring.current()])).toEqual([
      { version: '1', key: 'k1' },
      { version: '1', key: 'k1' },
    ]);
    expect(stored.reads).toBe(2);
    stored.failing = false;
    clock.mockReturnValue(NOW + 10 * 60_000 + 2);
    expect(await ring.current()).toEqual({ version: '2', key: 'k2' });
    expect(stored.reads).toBe(3);
  });

  test('waits only a second for a Secrets Manager that does not answer', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(NOW);
    const stop = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(stop.signal);
    await ring.current();
    stored.hanging = true;
    clock.mockReturnValue(NOW + 5 * 60_000 + 1);
    const reading = Promise.all([ring.current(), ring.find('1')]);
    expect(timeout.mock.calls).toEqual([[1_000]]);
    stop.abort();
    expect(await reading).toEqual([{ version: '1', key: 'k1' }, 'k1']);
  });

  test('reads the secret once for concurrent calls', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    await Promise.all(times(10, () => ring.current()));
    expect(await ring.byVersion('1')).toBe('k1');
    expect(stored.reads).toBe(1);
  });

  test('reads an added version without a restart, and a missing version at most every 10 s', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(NOW);
    await ring.current();
    stored.secret = { current: '2', 1: 'k1', 2: 'k2' };
    await expect(ring.byVersion('2')).rejects.toThrow('The secret has no key of version "2"');
    expect(stored.reads).toBe(1);
    clock.mockReturnValue(NOW + 10_001);
    expect(await ring.byVersion('2')).toBe('k2');
    for (let i = 0; i < 5; i++) await expect(ring.byVersion('3')).rejects.toThrow();
    expect(stored.reads).toBe(2);
  });

  test('reads again after a failure', async () => {
    const { ring, stored } = ringOf({ current: '1', 1: 'k1' });
    stored.failing = true;
    await expect(ring.current()).rejects.toThrow('Secrets Manager is away');
    stored.failing = false;
    expect(await ring.current()).toEqual({ version: '1', key: 'k1' });
  });

  test.each([
    ['no current version', { 1: 'k1' }],
    ['a current version without its key', { current: '2', 1: 'k1' }],
  ])('throws for a secret with %s', async (_what, secret) => {
    await expect(ringOf(secret as Record<string, string>).ring.current()).rejects.toThrow();
  });
});

describe('TokenIssuer and tokenHash', () => {
  test('issue a JWT with API key and token id, signed with a key for tokens only', async () => {
    const token = await new TokenIssuer(ringOf({ current: '1', 1: 'k1' }).ring, 'svc').issue(
      'key_a',
      'tok_1',
      NOW + 999,
    );
    const { payload, protectedHeader } = await jwtVerify(token, deriveKey('k1', ['authToken']));
    expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT', kid: '1' });
    expect(payload).toEqual({ iss: 'svc', sub: 'key_a', jti: 'tok_1', iat: NOW / 1000 });
    await expect(jwtVerify(token, Buffer.from('k1'.padEnd(32)))).rejects.toThrow();
    expect(token.length).toBeLessThanOrEqual(512); // The verifier rejects longer tokens.
  });

  test('match a hash with its own token among several, and with no other', () => {
    const stored = ['a', 'b', 'c'].map(tokenHash);
    for (const token of ['a', 'b', 'c']) expect(matchesAny(tokenHash(token), stored)).toBe(true);
    for (const token of ['', 'd', 'A', 'a ']) expect(matchesAny(tokenHash(token), stored)).toBe(false);
    expect(matchesAny(tokenHash('a'), [])).toBe(false);
    expect(matchesAny(tokenHash('a'), [tokenHash('a').subarray(0, 31), new Uint8Array(0)])).toBe(false);
    expect(tokenHash('a')).toHaveLength(32);
  });
});

describe('sealPageToken and openPageToken', () => {
  const pageKey = new Uint8Array(32).fill(7);
  const of = ['/v2/things/get', 'org'];
  const refused = expect.objectContaining({
    status: 'INVALID_ARGUMENT',
    message: 'pageToken is not a token of this listing, or has expired',
  });
  const open = (token: string, change: { key?: Uint8Array; of?: string[]; now?: number } = {}) =>
    openPageToken(change.key ?? pageKey, change.of ?? of, token, change.now ?? NOW);

  testProperty('return any cursor unchanged', [fc.string({ unit: 'grapheme' })], (cursor) => {
    expect(open(sealPageToken(pageKey, of, cursor, NOW))).toBe(cursor);
  });

  test('make a token that needs no escaping and hides its cursor', () => {
    const token = sealPageToken(pageKey, of, 'KEY#secret', NOW);
    expect(token).toMatch(/^[\w-]+$/);
    expect(Buffer.from(token, 'base64url').includes('secret')).toBe(false);
  });

  test('reject a token of another tenant, endpoint or listing', () => {
    const token = sealPageToken(pageKey, of, 'cursor', NOW);
    for (const change of [
      { key: new Uint8Array(32) },
      { of: ['/v2/others/get', 'org'] },
      { of: ['/v2/things/get', 'other'] },
      { of: ['/v2/things/get'] },
    ]) {
      expect(() => open(token, change)).toThrow(refused);
    }
  });

  testProperty('reject any other text', [unicodeText()], (text) => {
    expect(() => open(text)).toThrow(refused);
  });

  test('reject every other spelling of a token', () => {
    const token = sealPageToken(pageKey, of, 'cursor', NOW);
    for (const other of otherSpellings(token)) expect(() => open(other)).toThrow(refused);
  });

  test('accept a token for a day', () => {
    const token = sealPageToken(pageKey, of, 'cursor', NOW);
    expect(open(token, { now: NOW + 86_399_999 })).toBe('cursor');
    expect(() => open(token, { now: NOW + 86_400_000 })).toThrow(refused);
  });

  test('start a listing at the beginning without a token, and give none at its end', () => {
    const caller = { level: 'workspace', workspaceId: 'ws', ownerEmail: 'x', authToken: 'x', pageKey } as const;
    const first = paging(caller, of, {}, NOW);
    expect(first.after).toBeUndefined();
    expect(first.next(undefined)).toBeNull();
    expect(paging(caller, of, { pageToken: first.next('cursor')! }, NOW).after).toBe('cursor');
  });
});
