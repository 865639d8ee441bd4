import { describe, expect, test } from '@jest/globals';
import { FaultShare } from '../../../lib/observability/faultShare.ts';

const MINUTE = 60_000;
const good = { calls: 1, faults: 0 };
const fault = { calls: 1, faults: 1 };

describe('FaultShare', () => {
  test('finds the first call frequent if it fails', () => {
    expect(new FaultShare().add(0, fault)).toBe(true);
    expect(new FaultShare().add(0, good)).toBe(false);
  });

  test.each([
    [99, true],
    [100, false],
  ])('with %d calls before, a fault is frequent: %s', (calls, expected) => {
    const share = new FaultShare();
    share.add(0, { calls, faults: 0 });
    expect(share.add(1, fault)).toBe(expected);
  });

  test('counts the calls of the window before, and none of earlier windows', () => {
    const share = new FaultShare();
    share.add(0, { calls: 1_000, faults: 0 });
    expect(share.add(5 * MINUTE, fault)).toBe(false);
    expect(share.add(10 * MINUTE, fault)).toBe(true);
  });

  test('forgets all calls after a pause of a window', () => {
    const share = new FaultShare();
    share.add(0, { calls: 1_000, faults: 0 });
    expect(share.add(11 * MINUTE, fault)).toBe(true);
  });

  test('judges a batch by its share', () => {
    expect(new FaultShare().add(0, { calls: 10, faults: 1 })).toBe(true);
  });
});
