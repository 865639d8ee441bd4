import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CURRENT_KEY_MILLISECONDS, KeyRing } from '../../../lib/crypto/keyRing.ts';
import { LiveKeys } from '../../../lib/live/liveKeys.ts';
import { otherSpellings } from '../../support/tokenSpellings.ts';

const NOW = 1_767_225_600_000;
const claims = { tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1', userPart: 'ada' };
const document = { tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1', epoch: 1 };

/** Returns the keys of one process. The process reads the secret through `readSecret`. */
function keysOf(readSecret: () => Record<string, string>): LiveKeys {
  const client = { send: () => Promise.resolve({ SecretString: JSON.stringify(readSecret()) }) };
  return new LiveKeys(new KeyRing('arn', () => client as unknown as SecretsManagerClient));
}

const channelsOf = async (secret: Record<string, string>) => (await keysOf(() => secret).names()).ofDocument(document);
const tokenOf = async (secret: Record<string, string>) => (await keysOf(() => secret).issueToken(claims, NOW)).token;

const original = { current: '1', 1: 'k1' };
const rotated = { current: '2', 1: 'k1', 2: 'k2' };
/** The secret after the steps of the runbook for a leaked signing key. */
const replaced = { current: '2', channels: 'k1', 2: 'k2' };

let now: number;
beforeEach(() => {
  now = NOW;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('LiveKeys', () => {
  test('reads tokens of older versions after a rotation', async () => {
    const keys = keysOf(() => rotated);
    expect(await keys.readToken(await tokenOf(original), NOW)).toEqual(claims);
    expect(await keys.readToken(await tokenOf(rotated), NOW)).toEqual(claims);
  });

  test('refuses expired tokens and other texts', async () => {
    const keys = keysOf(() => original);
    const token = await tokenOf(original);
    expect(await keys.readToken(token, NOW + 15 * 60_000)).toBeUndefined();
    for (const text of ['', token.slice(2), token.replace('1.', '2.'), ...otherSpellings(token)])
      expect(await keys.readToken(text, NOW)).toBeUndefined();
  });

  test('keeps the names of channels after a rotation and after the replacement of a leaked version', async () => {
    expect(await channelsOf(rotated)).toEqual(await channelsOf(original));
    expect(await channelsOf(replaced)).toEqual(await channelsOf(original));
  });

  test('refuses tokens that are made with a replaced version, under any of its names', async () => {
    const keys = keysOf(() => replaced);
    const forged = await tokenOf(original);
    expect(await keys.readToken(forged, NOW)).toBeUndefined();
    const renamed = await tokenOf({ current: 'channels', channels: 'k1' });
    expect(renamed).toMatch(/^channels\./);
    expect(await keys.readToken(renamed, NOW)).toBeUndefined();
    expect(await keys.readToken(await tokenOf(replaced), NOW)).toEqual(claims);
  });

  test('refuses tokens of a removed version five minutes after the removal, also in a process that has used it', async () => {
    let secret: Record<string, string> = rotated;
    const keys = keysOf(() => secret);
    const forged = await tokenOf(original);
    expect(await keys.readToken(forged, NOW)).toEqual(claims);
    secret = replaced;
    now += CURRENT_KEY_MILLISECONDS + 1;
    expect(await keys.readToken(forged, NOW)).toBeUndefined();
  });
});
