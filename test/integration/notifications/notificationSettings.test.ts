import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import type { DataOf } from '../../support/customer.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/notifications/config/get';
const SET = '/v2/notifications/config/set';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', '__proto__']));

const set = (userIds: string[], config: DataOf<typeof SET>['config'], documentIds?: string[]) =>
  customer.ok(SET, { organizationId: 'acme', userIds, config, documentIds });
const read = async (userId: string, selection: object) =>
  (await customer.ok(GET, { organizationId: 'acme', userId, ...selection })) as { config: object; metadata: object }[];
const configs = async (userId: string, documentIds: readonly string[]) =>
  (await read(userId, { documentIds })).map(({ config }) => config);
const organizationConfig = async (userId: string) => (await read(userId, { getOrganizationConfig: true }))[0]?.config;

describe('POST /v2/notifications/config/get', () => {
  test('returns ALL for inbox and email of a user without settings', async () => {
    const metadata = { organizationId: 'acme', apiKey: customer.apiKey, userId: 'ada' };
    const documentIds = ['offer', 'nda'];
    expect(await customer.result(GET, { organizationId: 'acme', userId: 'ada', documentIds })).toEqual({
      status: 'success',
      message: 'User config fetched successfully.',
      data: documentIds.map((documentId) => ({
        config: { inbox: 'ALL', email: 'ALL' },
        metadata: { ...metadata, documentId },
      })),
    });
    expect(await read('ada', { getOrganizationConfig: true })).toEqual([
      { config: { inbox: 'ALL', email: 'ALL' }, metadata },
    ]);
  });

  test('returns each known document once, with its level of each channel, else that of the organization, else ALL', async () => {
    await set(['ada'], { inbox: 'MINE', email: 'NONE' });
    await set(['ada'], { inbox: 'NONE', slack: 'MINE' }, ['nda']);
    const selection = { getOrganizationConfig: true, documentIds: ['nda', 'nowhere', 'offer', 'nda'] };
    const settings = await read('ada', selection);
    expect(settings.map(({ config, metadata }: any) => [metadata.documentId, config])).toEqual([
      [undefined, { inbox: 'MINE', email: 'NONE' }],
      ['nda', { inbox: 'NONE', email: 'NONE', slack: 'MINE' }],
      ['offer', { inbox: 'MINE', email: 'NONE' }],
    ]);
    await set(['ada'], { slack: 'NONE' });
    expect(await configs('ada', ['offer'])).toEqual([{ inbox: 'MINE', email: 'NONE', slack: 'NONE' }]);
    expect(await configs('grace', ['nda'])).toEqual([{ inbox: 'ALL', email: 'ALL' }]);
  });

  test.each([[{}], [{ getOrganizationConfig: false }], [{ documentIds: [] }]])(
    'rejects a request without documents or getOrganizationConfig: %j',
    async (more) => {
      expect(await customer.error(GET, { organizationId: 'acme', userId: 'ada', ...more })).toEqual(
        invalid('documentIds is required unless getOrganizationConfig is true'),
      );
    },
  );
});

describe('POST /v2/notifications/config/set', () => {
  test('returns a result per user, fails only for an unknown user, and accepts the id __proto__', async () => {
    const data = await set(['ada', 'stranger', '__proto__', 'ada'], { inbox: 'MINE' }, ['nda']);
    const message = 'User config set successfully.';
    const result = (userId: string) => ({ success: true, userId, documentId: 'nda', message });
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
    expect((await set(['ada'], { email: 'NONE' })).ada).toEqual({ ...result('ada'), documentId: null });
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
    const data = {
      organizationId: 'acme',
      userIds: ['ada'],
      documentIds: ['nda', 'nowhere'],
      config: { inbox: 'NONE' },
    };
    expect(await customer.error(SET, data)).toEqual([404, 'NOT_FOUND', 'Document nowhere does not exist']);
    expect(await configs('ada', ['nda'])).toEqual([{ inbox: 'ALL', email: 'ALL' }]);
  });

  test('sets the levels of 100 users in 30 documents', async () => {
    const documentIds = times(30, (i) => `d${i}`);
    const userIds = times(100, (i) => `u${i}`);
    await customer.addDocuments(documentIds);
    await customer.addUsers(userIds);
    await set(userIds, { inbox: 'MINE' }, documentIds);
    expect(await configs('u99', documentIds)).toEqual(documentIds.map(() => ({ inbox: 'MINE', email: 'ALL' })));
  });
});
