import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/notifications/config/get';
const SET = '/v2/notifications/config/set';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', '__proto__']));

const set = (userIds: readonly string[], config: object, documentIds?: readonly string[]) =>
  customer.untyped(SET, { organizationId: 'acme', userIds, config, documentIds });
const read = async (userId: string, selection: object) =>
  (await customer.ok(GET, { organizationId: 'acme', userId, ...selection })) as { config: object; metadata: object }[];
const configs = async (userId: string, documentIds: readonly string[]) =>
  (await read(userId, { documentIds })).map(({ config }) => config);
const organizationConfig = async (userId: string) => (await read(userId, { getOrganizationConfig: true }))[0]?.config;

describe('POST /v2/notifications/config/get', () => {
  test('returns ALL for inbox and email of a user without settings', async () => {
    const { body } = await customer.call(GET, { organizationId: 'acme', userId: 'ada', documentIds: ['offer', 'nda'] });
    const metadata = { organizationId: 'acme', apiKey: customer.apiKey, userId: 'ada' };
    expect(body.result).toEqual({
      status: 'success',
      message: 'User config fetched successfully.',
      data: ['offer', 'nda'].map((documentId) => ({
        config: { inbox: 'ALL', email: 'ALL' },
        metadata: { ...metadata, documentId },
      })),
    });
    expect(await read('ada', { getOrganizationConfig: true })).toEqual([
      { config: { inbox: 'ALL', email: 'ALL' }, metadata },
    ]);
  });

  test('returns the organization first and each document once, and omits unknown documents', async () => {
    await set(['ada'], { inbox: 'NONE' });
    const settings = await read('ada', { getOrganizationConfig: true, documentIds: ['nda', 'nowhere', 'nda'] });
    expect(settings.map(({ metadata }: any) => metadata.documentId)).toEqual([undefined, 'nda']);
    expect(settings.map(({ config }: any) => config.inbox)).toEqual(['NONE', 'NONE']);
  });

  test('returns the level of each channel from the document, else from the organization, else ALL', async () => {
    await set(['ada'], { inbox: 'MINE', email: 'NONE' });
    await set(['ada'], { inbox: 'NONE', slack: 'MINE' }, ['nda']);
    expect(await configs('ada', ['nda', 'offer'])).toEqual([
      { inbox: 'NONE', email: 'NONE', slack: 'MINE' },
      { inbox: 'MINE', email: 'NONE' },
    ]);
    expect(await organizationConfig('ada')).toEqual({ inbox: 'MINE', email: 'NONE' });
    await set(['ada'], { slack: 'NONE' });
    expect(await configs('ada', ['offer'])).toEqual([{ inbox: 'MINE', email: 'NONE', slack: 'NONE' }]);
    expect(await configs('grace', ['nda'])).toEqual([{ inbox: 'ALL', email: 'ALL' }]);
  });

  test.each([
    ['without documentIds', {}, 'documentIds is required unless getOrganizationConfig is true'],
    [
      'without documentIds, getOrganizationConfig false',
      { getOrganizationConfig: false },
      'documentIds is required unless getOrganizationConfig is true',
    ],
    ['with no documentIds', { documentIds: [] }, 'documentIds is required unless getOrganizationConfig is true'],
    [
      'with more than 30 documentIds',
      { documentIds: times(31, (i) => `d${i}`) },
      'documentIds must have at most 30 items',
    ],
    ['with documentIds of another type', { documentIds: 'nda' }, 'documentIds must be an array'],
    ['without a user', { documentIds: ['nda'], userId: undefined }, 'userId is required'],
    [
      'of an unknown organization',
      { documentIds: ['nda'], organizationId: 'nowhere' },
      'organizationId: the organization does not exist',
    ],
  ])('rejects a request %s with INVALID_ARGUMENT', async (_what, more, message) => {
    expect(await customer.error(GET, { organizationId: 'acme', userId: 'ada', ...more })).toEqual(invalid(message));
  });

  test('returns settings even if the notification service is off', async () => {
    expect((await customer.ok('/v2/workspace/notificationconfig/get', {})).useNotificationService).toBe(false);
    expect(await organizationConfig('ada')).toEqual({ inbox: 'ALL', email: 'ALL' });
  });
});

describe('POST /v2/notifications/config/set', () => {
  test('returns a result per user, fails only for an unknown user, and accepts the id __proto__', async () => {
    const data = await set(['ada', 'stranger', '__proto__', 'ada'], { inbox: 'MINE' }, ['nda']);
    const result = (userId: string) => ({
      success: true,
      userId,
      documentId: 'nda',
      message: 'User config set successfully.',
    });
    expect(Object.entries(data)).toEqual([
      ['ada', result('ada')],
      ['stranger', { success: false, userId: 'stranger', documentId: 'nda', message: 'User does not exist.' }],
      ['__proto__', result('__proto__')],
    ]);
    expect(await configs('__proto__', ['nda', 'offer'])).toEqual([
      { inbox: 'MINE', email: 'ALL' },
      { inbox: 'ALL', email: 'ALL' },
    ]);
    expect(await configs('stranger', ['nda'])).toEqual([{ inbox: 'ALL', email: 'ALL' }]);
  });

  test('returns documentId: null for settings of the organization', async () => {
    expect((await set(['ada'], { email: 'NONE' })).ada).toEqual({
      success: true,
      userId: 'ada',
      documentId: null,
      message: 'User config set successfully.',
    });
  });

  test('keeps the levels of unsent channels, even for concurrent requests', async () => {
    await Promise.all([
      set(['ada'], { inbox: 'NONE' }),
      set(['ada'], { email: 'MINE' }),
      set(['ada'], { slack: 'NONE' }),
    ]);
    expect(await organizationConfig('ada')).toEqual({ inbox: 'NONE', email: 'MINE', slack: 'NONE' });
    await set(['ada'], { inbox: 'ALL' });
    expect(await organizationConfig('ada')).toEqual({ inbox: 'ALL', email: 'MINE', slack: 'NONE' });
  });

  test('returns NOT_FOUND for an unknown document and sets nothing', async () => {
    expect(
      await customer.error(SET, {
        organizationId: 'acme',
        userIds: ['ada'],
        documentIds: ['nda', 'nowhere'],
        config: { inbox: 'NONE' },
      }),
    ).toEqual([404, 'NOT_FOUND', 'Document nowhere does not exist']);
    expect(await configs('ada', ['nda'])).toEqual([{ inbox: 'ALL', email: 'ALL' }]);
  });

  test.each([
    ['without a level', { config: {} }, 'config must have at least one of inbox, email and slack'],
    ['with an unknown level', { config: { inbox: 'SOME' } }, 'config.inbox must be "ALL" or "MINE" or "NONE"'],
    ['without users', { config: { inbox: 'ALL' }, userIds: [] }, 'userIds must not be empty'],
  ])('rejects a request %s with INVALID_ARGUMENT', async (_what, more, message) => {
    expect(await customer.error(SET, { organizationId: 'acme', userIds: ['ada'], ...more })).toEqual(invalid(message));
  });

  test('sets the levels of 100 users in 30 documents', async () => {
    const documentIds = times(30, (i) => `d${i}`);
    const userIds = times(100, (i) => `u${i}`);
    await customer.addDocuments(documentIds);
    await customer.addUsers(userIds);
    expect(Object.values(await set(userIds, { inbox: 'MINE' }, documentIds)).every(({ success }: any) => success)).toBe(
      true,
    );
    expect(await configs('u99', documentIds)).toEqual(documentIds.map(() => ({ inbox: 'MINE', email: 'ALL' })));
  });
});
