import { describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../../functions/v1/auth/token/get.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { endpointHandler, handlerOf } from '../../support/functionHandlers.ts';
import { errorOf, postFrom } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const PATH = '/v1/auth/token/get';
const [ATTACKER, SERVER, OTHER] = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];

const { customer } = acmeWorld({ documents: ['nda'] });

const request = (fields: object = {}) => ({
  apiKey: customer.apiKey,
  authToken: customer.authToken,
  userId: 'ada',
  userProperties: { organizationId: 'acme' },
  ...fields,
});

describe('POST /v1/auth/token/get', () => {
  test('refuses a source address after 100 of 500 calls with wrong credentials, and does not hinder another one', async () => {
    const handler = handlerOf(PATH);
    const call = async (sourceIp: string, fields: object = {}) => postFrom(sourceIp, handler, request(fields));
    await withStillClock(async () => {
      const answers = [];
      for (const n of times(500, (index) => index))
        answers.push(errorOf(await call(ATTACKER, n % 2 === 0 ? { authToken: `wrong-${n}` } : { apiKey: `key_${n}` })));
      expect(answers.slice(0, 100)).toEqual(times(100, () => [400, 'INVALID_ARGUMENT', 'Auth token not found.']));
      const refused = [
        429,
        'RESOURCE_EXHAUSTED',
        expect.stringMatching(
          /^The source address sends too many wrong credentials\. Send the request again after \d+ s\.$/,
        ),
      ];
      expect(answers.slice(100)).toEqual(times(400, () => refused));
      for (const answer of await Promise.all(times(20, () => call(SERVER)))) expect(answer.status).toBe(200);
      const send = jest.spyOn(table.connection.client, 'send');
      const { headers, status } = await call(ATTACKER);
      expect([status, send.mock.calls.length]).toEqual([429, 0]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      send.mockRestore();
    });
  });

  test('counts calls with valid credentials for the API key, and calls with wrong ones not', async () => {
    const handler = endpointHandler(endpoint, { WRITES_PER_SECOND_PER_KEY: '2', CALL_BURST_SECONDS: '1' });
    await withStillClock(async () => {
      for (const authToken of times(10, (n) => `wrong-${n}`))
        expect((await postFrom(OTHER, handler, request({ authToken }))).status).toBe(400);
      const answers = [];
      for (let n = 0; n < 3; n++) answers.push(errorOf(await postFrom(SERVER, handler, request())));
      expect(answers).toEqual([
        [200],
        [200],
        [429, 'RESOURCE_EXHAUSTED', 'The API key sends too many writes. Send the request again after 1 s.'],
      ]);
    });
  });
});
