import { describe, expect, test } from '@jest/globals';
import { FaultShare } from '../../../lib/observability/faultShare.ts';

const MINUTE = 60_000;
const good = { calls: 1, faults: 0 };
const fault = { calls: 1, faults: 1 };

describe('FaultShare', () => {
  test('reports a fault of the first call, because all calls so far failed', () => {
    expect(new FaultShare().add(0, fault)).toBe(true);
    expect(new FaultShare().add(0, good)).toBe(false);
  });

  test.each([
    [99, true],
    [100, false],
  ])('after %d calls without a fault, add returns %s for a fault', (calls, expected) => {
    const share = new FaultShare();
    share.add(0, { calls, faults: 0 });
    expect(share.add(1, fault)).toBe(expected);
  });

  test('counts the calls of the previous window, and none of earlier windows', () => {
    const share = new FaultShare();
    share.add(0, { calls: 1_000, faults: 0 });
    expect(share.add(5 * MINUTE, fault)).toBe(false);
    expect(share.add(10 * MINUTE, fault)).toBe(true);
  });

  test('forgets all calls after a pause as long as a window', () => {
    const share = new FaultShare();
    share.add(0, { calls: 1_000, faults: 0 });
    expect(share.add(11 * MINUTE, fault)).toBe(true);
  });

  test('compares the faults of a batch with its calls', () => {
    expect(new FaultShare().add(0, { calls: 10, faults: 1 })).toBe(true);
  });
});
