import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { DynamoDbService, type ServiceConfig } from '../../../lib/table/dynamoDbService.ts';

test.each(['url', 'region'] as const)('the table is called after its %s could not be resolved once', async (name) => {
  let failures = 1;
  const sent: string[] = [];
  const resolve = async <T>(setting: string, value: T) => {
    if (setting === name && failures-- > 0) throw new Error(`no ${setting}`);
    return value;
  };
  const config: ServiceConfig = {
    credentials: async () => ({ accessKeyId: 'id', secretAccessKey: 'secret' }),
    region: () => resolve('region', 'eu-central-1'),
    url: () => resolve('url', new URL('https://service.test')),
    retryStrategy: async () => ({
      acquireInitialRetryToken: async () => ({ getRetryCount: () => 0, getRetryCost: () => undefined }),
      refreshRetryTokenForRetry: async () => Promise.reject(new Error('no retry')),
      recordSuccess: () => undefined,
    }),
    requestHandler: {
      handle: async ({ hostname }) => {
        sent.push(hostname);
        return { response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from('{}')]) } };
      },
    },
  };
  const service = new DynamoDbService(config, ({ body }) => new Error(body));
  const send = () => service.call('GetItem', '{}');
  await expect(Promise.all([send(), send()])).rejects.toThrow(`no ${name}`);
  expect(await send()).toBe('{}');
  expect(sent).toEqual(['service.test']);
});
