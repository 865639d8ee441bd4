import { expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { PING } from '../../../lib/app/page.ts';
import { testHandler } from '../../support/endpoint.ts';
import { eventOf } from '../../support/requests.ts';

test('a ping runs neither the endpoint nor a middleware, so it writes no log line', async () => {
  const run = jest.fn(async () => ({}));
  const log = jest.spyOn(console, 'info');
  expect(await testHandler({ run })(PING as never, {} as Context)).toEqual({ statusCode: 204 });
  expect(run).not.toHaveBeenCalled();
  expect(log).not.toHaveBeenCalled();
  log.mockRestore();
});

test('a request with the field "ping" in its body is no ping', async () => {
  const answer = await testHandler({ run: async () => ({}) })(eventOf(JSON.stringify({ data: PING })), {} as Context);
  expect(answer.statusCode).toBe(200);
});
