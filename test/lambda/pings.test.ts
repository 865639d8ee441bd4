import { afterAll, expect, test } from '@jest/globals';
import { PING } from '../../lib/app/page.ts';
import { quantile } from '../bench/report.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { LambdaCustomer } from './customer.ts';
import { startLambdaSystem } from './system.ts';

type Request = readonly [path: string, data: object];

const ORGANIZATION = { organizationId: 'acme' };
/** Pairs of requests that do much the same work. The function of the first gets a ping before its first call. */
const PAIRS: readonly (readonly [pinged: Request, cold: Request])[] = [
  [
    ['/v2/organizations/documents/get', ORGANIZATION],
    ['/v2/organizations/folders/get', ORGANIZATION],
  ],
  [
    ['/v2/workspace/domains/get', {}],
    ['/v2/workspace/emailconfig/get', {}],
  ],
  [
    ['/v2/workspace/webhookconfig/get', {}],
    ['/v2/workspace/notificationconfig/get', {}],
  ],
];

const system = forAllTests(startLambdaSystem);
const times = { pinged: [] as number[], cold: [] as number[] };

test('a ping starts an instance, which answers its first call in less time than a new one', async () => {
  const customer = new LambdaCustomer(system, 'plain');
  await customer.use(await customer.ok('/v2/workspace/create', { ownerEmail: 'owner@example.com' }));
  await customer.createDocuments();
  const timed = async (path: string, data: object) => {
    const begin = performance.now();
    await customer.ok(path, data);
    return performance.now() - begin;
  };
  for (const [pinged, cold] of PAIRS) {
    const fn = system.functionOfRoute(`POST ${pinged[0]}`);
    expect(await system.invoke(fn, PING)).toEqual({ statusCode: 204 });
    expect(await system.logOf(fn)).not.toContain('request completed');
    times.pinged.push(await timed(...pinged));
    times.cold.push(await timed(...cold));
  }
  expect(quantile(times.pinged, 0.5)).toBeLessThan(quantile(times.cold, 0.5));
});

afterAll(() => {
  const [pinged, cold] = [times.pinged, times.cold].map((each) => quantile(each, 0.5).toFixed(0));
  process.stdout.write(`\nfirst call after a ping, median ms: ${pinged}; with the start of an instance: ${cold}\n\n`);
});
