import { describe, expect, test } from '@jest/globals';
import { HealthyEndpoints } from '../../../lib/webhooks/healthyEndpoints.ts';
import { requestsWritten } from '../../../lib/webhooks/transport/sendRequest.ts';
import { times } from '../../support/times.ts';

const endpoint = (endpointId: string, tenant = 'acme') => ({ tenant, endpointId });

describe('HealthyEndpoints', () => {
  test('has the endpoints whose last attempt was delivered', () => {
    const healthy = new HealthyEndpoints();
    expect(healthy.has(endpoint('one'))).toBe(false);
    healthy.record(endpoint('one'), 'delivered');
    healthy.record(endpoint('two'), 'timeout');
    expect(healthy.has(endpoint('one'))).toBe(true);
    expect(healthy.has(endpoint('two'))).toBe(false);
    healthy.record(endpoint('one'), 'failed');
    expect(healthy.has(endpoint('one'))).toBe(false);
  });

  test('tells the same target of two customers apart', () => {
    const healthy = new HealthyEndpoints();
    healthy.record(endpoint('ep_basic_raw', 'acme'), 'delivered');
    expect(healthy.has(endpoint('ep_basic_raw', 'globex'))).toBe(false);
  });

  test('keeps at most 10,000 endpoints', () => {
    const healthy = new HealthyEndpoints();
    const all = times(20_500, (index) => endpoint(`ep_${index}`));
    for (const each of all) healthy.record(each, 'delivered');
    const kept = all.filter((each) => healthy.has(each));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(10_000);
  });
});

test('requestsWritten resolves after a request on a reused connection is written, two turns of the event loop later', async () => {
  const order: string[] = [];
  setImmediate(() => setImmediate(() => order.push('written')));
  await requestsWritten();
  expect(order).toEqual(['written']);
});
