import { join } from 'node:path';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import * as z from 'zod';
import { defineAsset } from '../../../lib/app/asset.ts';
import { definePage } from '../../../lib/app/page.ts';
import { toAsset } from '../../../lib/http/asset.ts';
import { toPage } from '../../../lib/http/page.ts';
import type { Handler } from '../../../lib/http/stack.ts';
import { html } from '../../../lib/shared/html.ts';
import { capturedLogObjects } from '../../support/capturedLog.ts';
import { eventOf } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

const START = 1_800_000_000_000;
const lines = capturedLogObjects();

let clock: jest.SpiedFunction<typeof Date.now>;
beforeEach(() => {
  clock = jest.spyOn(Date, 'now').mockReturnValue(START);
});

const declared = { summary: 'Text', uses: {}, impact: 'nothing is broken' };
const asset = () =>
  toAsset(
    defineAsset({ ...declared, path: '/text', files: [] }, () => ({ type: 'text/plain', text: 'text' })),
    join('none'),
    { SERVICE_NAME: 'svc' },
  );
const page = () => {
  const view = async () => ({ status: 200, title: 'Page', body: html`<p>page</p>` });
  return toPage(definePage({ ...declared, path: '/v2/text/page', input: z.object({}) }, { show: view, submit: view }), {
    SERVICE_NAME: 'svc',
  });
};

async function get(handler: Handler, sourceIp: string, headers: Record<string, string> = {}) {
  const event = eventOf(undefined, headers);
  Object.assign(event.requestContext.http, { method: 'GET', sourceIp });
  const { statusCode, headers: answered = {}, body = '' } = await handler(event, { awsRequestId: 'aws' } as Context);
  return { status: statusCode, retryAfter: answered['retry-after'], body };
}

/** Returns how many of `count` calls from one address get an answer other than 429. */
async function allowed(handler: Handler, sourceIp: string, count: number): Promise<number> {
  const answers = await Promise.all(times(count, () => get(handler, sourceIp)));
  return answers.filter(({ status }) => status !== 429).length;
}

describe.each([
  ['an asset', asset],
  ['a page', page],
])('%s', (_name, make) => {
  test('answers 50 calls of one address at once, then five a second, and names the time to wait', async () => {
    const handler = make();
    expect(await allowed(handler, '198.51.100.1', 300)).toBe(50);
    expect(await get(handler, '198.51.100.1')).toMatchObject({
      status: 429,
      retryAfter: '1',
      body: expect.stringContaining('The source address sends too many requests. Send the request again after 1 s.'),
    });
    clock.mockReturnValue(START + 1_000);
    expect(await allowed(handler, '198.51.100.1', 10)).toBe(5);
  });

  test('answers other addresses while one address floods', async () => {
    const handler = make();
    await allowed(handler, '198.51.100.1', 400);
    expect(await allowed(handler, '198.51.100.2', 50)).toBe(50);
  });

  test('counts the addresses of one IPv6 network together, and ignores headers that name an address', async () => {
    const handler = make();
    const statuses = await Promise.all(
      times(60, (n) => get(handler, `2001:db8:1:2::${n.toString(16)}`, { 'x-forwarded-for': `192.0.2.${n}` })),
    );
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(await allowed(handler, '2001:db8:1:3::1', 1)).toBe(1);
  });

  test('answers 250 calls of all addresses at once, then 25 a second', async () => {
    const handler = make();
    const flood = () => Promise.all(times(400, (n) => get(handler, `2001:db8:${n.toString(16)}::1`)));
    const answers = await flood();
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(250);
    expect(answers.at(-1)?.body).toContain('The service gets too many requests. Send the request again after 1 s.');
    clock.mockReturnValue(START + 1_000);
    expect((await flood()).filter(({ status }) => status === 200)).toHaveLength(25);
  });

  test('counts each refused call in the metric of rate-limited calls and in its log line', async () => {
    const handler = make();
    await allowed(handler, '198.51.100.1', 53);
    expect(lines.filter((line) => line.limitedClass === 'source' && line.status === 429)).toHaveLength(3);
    const metrics = lines.filter((line) => '_aws' in line);
    expect(metrics).toHaveLength(3);
    expect(metrics[0]).toMatchObject({ service: 'svc', limitedClass: 'source', RateLimitedCalls: 1 });
  });
});
