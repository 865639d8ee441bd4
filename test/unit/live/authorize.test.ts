import { beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthorizerPorts, LiveAuthorizer } from '../../../lib/live/authorize.ts';
import { ChannelNames } from '../../../lib/live/rules/channels.ts';

const names = new ChannelNames(Buffer.alloc(32, 1));
const document = { tenant: 'key_1', organizationKey: 'org_1', documentKey: 'doc_1' };
const NOW = 1_767_225_600_000;

let epoch: number;
let hasSession: boolean;
let reads: number;
let hasStoredAccess: boolean;
/** The internal id of the user who has the id of the session's user now. */
let currentUserKey: string;
let authorizer: LiveAuthorizer;
beforeEach(() => {
  [epoch, hasSession, reads] = [1, true, 0];
  [hasStoredAccess, currentUserKey] = [false, 'usr_1'];
  const keys = {
    names: () => Promise.resolve(names),
    readToken: (token: string) => Promise.resolve(token === 'valid' ? { ...document, userPart: 'ada' } : undefined),
  };
  const sessionStore = {
    session: () => {
      reads += 1;
      const session = {
        userId: 'ada',
        userKey: 'usr_1',
        tokenRevocations: 0,
        hasStoredAccess,
        accessEndsAt: NOW + 3_600_000,
      };
      return Promise.resolve(hasSession ? { channel: { epoch }, session } : undefined);
    },
  };
  const audienceReader = {
    loadDocument: () => Promise.resolve({}),
    openDocument: () => Promise.resolve({}),
    accessOfUsers: () => Promise.resolve(new Map([['ada', { endsAt: Infinity, userKey: currentUserKey }]])),
  };
  authorizer = new LiveAuthorizer({ keys, sessionStore, audienceReader } as unknown as AuthorizerPorts);
});

const channels = (of = epoch) => names.ofDocument({ ...document, epoch: of });
const subscribe = async (channel: string, now = NOW, token = 'valid') =>
  authorizer.isAllowed({ operation: 'subscribe', token, channel }, now);

describe('the authorizer of the push channel', () => {
  test('allows subscriptions to the channels of the document and the user, and publishes to the awareness channel', async () => {
    const { document: events, awareness } = channels();
    const own = names.ofUser({ tenant: 'key_1', userKey: 'usr_1', tokenRevocations: 0 });
    const publish = async (channel: string) =>
      authorizer.isAllowed({ operation: 'publish', token: 'valid', channel }, NOW);
    for (const channel of [events, awareness, own]) expect(await subscribe(channel)).toBe(true);
    expect(await subscribe(names.ofUser({ tenant: 'key_1', userKey: 'usr_2', tokenRevocations: 0 }))).toBe(false);
    expect([await publish(awareness), await publish(events), await publish(own)]).toEqual([true, false, false]);
  });

  test('refuses an invalid token without a read', async () => {
    expect([await subscribe(channels().document, NOW, 'other'), reads]).toEqual([false, 0]);
  });

  test('refuses the session of an erased user after another user got the same id', async () => {
    hasStoredAccess = true;
    expect(await subscribe(channels().document)).toBe(true);
    currentUserKey = 'usr_2';
    expect(await subscribe(channels().document, NOW + 10_000)).toBe(false);
  });

  test('caches rights for ten seconds', async () => {
    await subscribe(channels().document);
    hasSession = false;
    expect([await subscribe(channels().document, NOW + 9_999), reads]).toEqual([true, 1]);
    expect([await subscribe(channels().document, NOW + 10_000), reads]).toEqual([false, 2]);
  });

  test('reads cached rights again for the new channels of a document', async () => {
    await subscribe(channels().document);
    epoch = 2;
    expect(await subscribe(channels(2).document, NOW + 1_000)).toBe(true);
    expect(await subscribe(channels(1).document, NOW + 1_001)).toBe(false);
    expect(reads).toBe(2);
  });

  test('reads rights at most once a second, whatever a client requests', async () => {
    for (let after = 0; after < 3_000; after += 100) expect(await subscribe('/live/a/b/c', NOW + after)).toBe(false);
    expect(reads).toBe(3);
  });
});
