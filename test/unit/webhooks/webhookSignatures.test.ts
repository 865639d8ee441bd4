import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KeyRing } from '../../../lib/crypto/keyRing.ts';
import { SecretBox } from '../../../lib/crypto/secretBox.ts';
import { createSigningSecret, openSigningKey } from '../../../lib/webhooks/signingSecrets.ts';
import { type BodyEncoding, encodeBody } from '../../../lib/webhooks/transport/encodeBody.ts';
import { basicHeaders, signHeaders, signingKey } from '../../../lib/webhooks/transport/sign.ts';
import { bodyOf, pemOf, rsaKeyPair, rsaPublicKey } from '../../support/rsaKeys.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

type Headers = Readonly<Record<string, string>>;

/** The code samples that the README gives to customers for their receivers. */
const samples = '../../samples';
const { isGenuine } = (await import(`${samples}/verifyWebhook.mjs`)) as {
  isGenuine: (headers: Headers, body: string, secret: string, now?: number) => boolean;
};
const { verified, verifiedBasic } = (await import(`${samples}/verifyWithLibrary.mjs`)) as Record<
  'verified' | 'verifiedBasic',
  (headers: Headers, body: string, secret: string) => unknown
>;
const { openPayload } = (await import(`${samples}/openPayload.mjs`)) as {
  openPayload: (envelope: Headers, privateKey: string) => unknown;
};

const nowSeconds = () => Math.floor(Date.now() / 1000);
const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString('base64')}`;
const PAYLOAD = JSON.stringify({ event: 'comment.add', data: { text: 'Grüße, 世界 👋 \u2028' } });
const signed = (body = PAYLOAD) => ({ id: 'msg_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', timestampSeconds: nowSeconds(), body });

/** Returns whether both samples of the README accept a delivery. Expects that they agree. */
function accepted(headers: Headers, body: string, secret: string): boolean {
  const own = isGenuine(headers, body, secret);
  let library = true;
  try {
    expect(verified(headers, body, secret)).toEqual(JSON.parse(body));
  } catch {
    library = false;
  }
  expect(own).toBe(library);
  return own;
}

describe('the signature of an advanced delivery', () => {
  test('matches the published test vector', () => {
    const vector = {
      id: 'msg_loFOjxBNrRLzqYUf',
      timestampSeconds: 1_731_705_121,
      body: '{"event_type":"ping","data":{"success":true}}',
    };
    const headers = {
      'webhook-id': 'msg_loFOjxBNrRLzqYUf',
      'webhook-timestamp': '1731705121',
      'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    };
    expect(signHeaders({ ...vector, keys: [signingKey('whsec_plJ3nmyCDGBKInavdOK15jsl')] })).toEqual(headers);
    expect(isGenuine(headers, vector.body, 'whsec_plJ3nmyCDGBKInavdOK15jsl', vector.timestampSeconds * 1000)).toBe(
      true,
    );
  });

  test.each([18, 24, 32, 64])('is accepted with a secret of %i bytes', (bytes) => {
    const secret = newSecret(bytes);
    expect(accepted(signHeaders({ ...signed(), keys: [signingKey(secret)] }), PAYLOAD, secret)).toBe(true);
  });

  test('is accepted with either of two valid secrets', () => {
    const [next, last] = [newSecret(), newSecret()];
    const content = signed();
    const headers = signHeaders({ ...content, keys: [signingKey(next), signingKey(last)] });
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    expect([next, last, newSecret()].map((secret) => accepted(headers, PAYLOAD, secret))).toEqual([true, true, false]);
    expect(headers['webhook-signature']?.split(' ')[0]).toBe(
      signHeaders({ ...content, keys: [signingKey(next)] })['webhook-signature'],
    );
  });

  test('is rejected for another body, id, time or secret', () => {
    const secret = newSecret();
    const headers = signHeaders({ ...signed(), keys: [signingKey(secret)] });
    expect(accepted(headers, PAYLOAD.replace('Grüße', 'Grusse'), secret)).toBe(false);
    expect(accepted({ ...headers, 'webhook-id': 'msg_other' }, PAYLOAD, secret)).toBe(false);
    expect(accepted({ ...headers, 'webhook-timestamp': String(nowSeconds() + 1) }, PAYLOAD, secret)).toBe(false);
    expect(accepted(headers, PAYLOAD, newSecret())).toBe(false);
  });

  test('is rejected when it is too old or from the future', () => {
    const secret = newSecret();
    for (const seconds of [-310, 310])
      expect(
        accepted(
          signHeaders({ ...signed(), timestampSeconds: nowSeconds() + seconds, keys: [signingKey(secret)] }),
          PAYLOAD,
          secret,
        ),
      ).toBe(false);
  });

  testProperty(
    'covers the final bytes of any payload',
    [fc.json(), fc.boolean()],
    (json, encodeData) => {
      const secret = newSecret();
      const body = encoded(json, { encodeData });
      expect(accepted(signHeaders({ ...signed(body), keys: [signingKey(secret)] }), body, secret)).toBe(true);
    },
    { numRuns: 50 },
  );
});

describe('a basic delivery', () => {
  test.each([
    ['a word', 'secret-token'],
    ['base64', 'dXNlcjpwYXNz'],
    ['several words', 'with spaces and ='],
    ['of the largest length', 'x'.repeat(4_096)],
  ])('has a token that is %s unchanged and is signed with it', (_what, token) => {
    const headers = basicHeaders({ ...signed(), authToken: token });
    expect(headers.authorization).toBe(`Basic ${token}`);
    expect(verifiedBasic(headers, PAYLOAD, token)).toEqual(JSON.parse(PAYLOAD));
    expect(() => verifiedBasic(headers, PAYLOAD, `${token}x`)).toThrow('No matching signature found');
  });

  test('has an id and a time but no signature without a token', () => {
    const content = signed();
    expect(basicHeaders({ ...content, authToken: '' })).toEqual({
      'webhook-id': content.id,
      'webhook-timestamp': String(content.timestampSeconds),
    });
  });

  test.each(['a\r\nb: c', '世界', '\0', '\ud800'])(
    'is still sent with the token %j, although no configuration accepts this token',
    (token) => {
      expect(basicHeaders({ ...signed(), authToken: token }).authorization).toBe(`Basic ${token}`);
    },
  );
});

function encoded(json: string, wrapping: BodyEncoding): string {
  const made = encodeBody(json, wrapping);
  if ('error' in made) throw new Error(made.error);
  return made.body;
}

describe('encodeBody', () => {
  test('returns the payload unchanged by default', () => {
    expect(encoded(PAYLOAD, {})).toBe(PAYLOAD);
    expect(encoded(PAYLOAD, { encodeData: false, encryptData: false, publicKey: 'no key' })).toBe(PAYLOAD);
  });

  test('returns base64 with encodeData', () => {
    const { encodedPayload, ...rest } = JSON.parse(encoded(PAYLOAD, { encodeData: true }));
    expect([Buffer.from(encodedPayload, 'base64').toString(), rest]).toEqual([PAYLOAD, {}]);
  });
});

describe('an encrypted body', () => {
  const { publicKey, privateKey } = rsaKeyPair();
  const spki = pemOf(publicKey, 'spki');
  const pem = pemOf(privateKey, 'pkcs1');

  test.each([
    ['SPKI as PEM', spki, pem],
    ['PKCS#1 without PEM lines', bodyOf(pemOf(publicKey, 'pkcs1')), pemOf(privateKey, 'pkcs8')],
  ])('is decrypted by the sample of the README for a key that is %s', (_what, key, own) => {
    const envelope = JSON.parse(encoded(PAYLOAD, { encryptData: true, publicKey: key }));
    expect(Object.keys(envelope).sort()).toEqual(['encryptedData', 'encryptedKey', 'iv']);
    expect([envelope.iv, envelope.encryptedKey].map((text: string) => Buffer.from(text, 'base64').length)).toEqual([
      16, 256,
    ]);
    expect(openPayload(envelope, own)).toEqual(JSON.parse(PAYLOAD));
  });

  testProperty(
    'can contain any payload',
    [fc.json()],
    (json) => {
      expect(openPayload(JSON.parse(encoded(json, { encryptData: true, publicKey: spki })), pem)).toEqual(
        JSON.parse(json),
      );
    },
    { numRuns: 50 },
  );

  test('has a new AES key and a new IV each time', () => {
    const made = times(20, () => JSON.parse(encoded(PAYLOAD, { encryptData: true, publicKey: spki })));
    for (const field of ['encryptedData', 'encryptedKey', 'iv'])
      expect(new Set(made.map((envelope) => envelope[field])).size).toBe(20);
  });

  test('is encrypted and not encoded when both settings are on', () => {
    expect(JSON.parse(encoded(PAYLOAD, { encodeData: true, encryptData: true, publicKey: spki }))).toHaveProperty(
      'encryptedData',
    );
  });

  test.each([
    ['that is missing', undefined],
    ['that is empty', ''],
    ['that is invalid', 'no key'],
    ['of 1024 bits', bodyOf(pemOf(rsaPublicKey(1_024), 'spki'))],
  ])('fails for a key %s instead of containing the payload in clear text', (_what, key) => {
    expect(encodeBody(PAYLOAD, { encodeData: true, encryptData: true, publicKey: key })).toEqual({
      error: 'public key unusable',
    });
  });
});

describe('openSigningKey', () => {
  /** Returns a box that counts its decryptions, and whose key service can fail. */
  function countingBox() {
    const calls = { count: 0, isFailing: false };
    const byVersion = async () => {
      calls.count++;
      if (calls.isFailing) throw new Error('No key service');
      return 'k1';
    };
    const ring = { current: async () => ({ version: '1', key: 'k1' }), byVersion };
    return { calls, box: new SecretBox(ring as unknown as KeyRing) };
  }

  test('decrypts a secret once while its settings are in memory', async () => {
    const { box, calls } = countingBox();
    const { text, stored } = await createSigningSecret(box, 'tenant', 'ep_1', 0);
    const [first, second] = [
      await openSigningKey(box, 'tenant', 'ep_1', stored),
      await openSigningKey(box, 'tenant', 'ep_1', stored),
    ];
    expect(first.export().toString('base64')).toBe(text.replace('whsec_', ''));
    expect(second).toBe(first);
    expect(calls.count).toBe(1);
    await openSigningKey(box, 'tenant', 'ep_1', { ...stored });
    expect(calls.count).toBe(2);
  });

  test('rejects a secret that was copied to another endpoint or tenant', async () => {
    const { box } = countingBox();
    const { stored } = await createSigningSecret(box, 'tenant', 'ep_1', 0);
    await openSigningKey(box, 'tenant', 'ep_1', stored);
    await expect(openSigningKey(box, 'tenant', 'ep_2', { ...stored })).rejects.toThrow('does not open for its owner');
    await expect(openSigningKey(box, 'other', 'ep_1', { ...stored })).rejects.toThrow('does not open for its owner');
  });

  test('decrypts a secret again after a failure', async () => {
    const { box, calls } = countingBox();
    const { stored } = await createSigningSecret(box, 'tenant', 'ep_1', 0);
    calls.isFailing = true;
    await expect(openSigningKey(box, 'tenant', 'ep_1', stored)).rejects.toThrow('No key service');
    calls.isFailing = false;
    expect((await openSigningKey(box, 'tenant', 'ep_1', stored)).type).toBe('secret');
  });
});
