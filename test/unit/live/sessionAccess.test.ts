import { describe, expect, test } from '@jest/globals';
import type { UserAccess } from '../../../lib/app/rules/access.ts';
import { findAccessEnd } from '../../../lib/directory/rules/access.ts';
import {
  hasLostTokenAccess,
  longerAccess,
  tokenAccessEnd,
  tokenResources,
} from '../../../lib/live/rules/sessionAccess.ts';
import { sweepSessions } from '../../../lib/live/sweepSessions.ts';
import type { SweepCall } from '../../../lib/workers/sweep.ts';

const NOW = 1_000;
const folder = { internalId: 'f', accessType: 'restricted', ancestors: [] } as const;
const document = { internalId: 'd', accessType: 'restricted', folder } as const;
const userWith = (...grants: [internalId: string, expiresAt?: number][]): UserAccess => ({
  exists: true,
  organizationKey: 'o',
  grants: grants.map(([internalId, expiresAt]) => ({
    resourceType: 'document',
    internalId,
    accessRole: 'viewer',
    expiresAt,
  })),
  now: NOW,
});

describe('findAccessEnd', () => {
  test.each<[string, UserAccess, number | undefined]>([
    ['the end of the only grant', userWith(['d', 2_000]), 2_000],
    ['the later end of two grants', userWith(['d', 2_000], ['f', 3_000]), 3_000],
    ['no end beside a grant without an end', userWith(['d', 2_000], ['f']), undefined],
    [
      'the end of the grant that counts, beside other documents',
      userWith(['x', 1_500], ['d', 2_000], ['y', 9_000]),
      2_000,
    ],
    ['the end of a grant beside an expired grant', userWith(['f', 900], ['d', 2_000]), 2_000],
  ])('returns %s', (_what, user, end) => {
    expect(findAccessEnd(user, document)).toBe(end);
  });

  test('returns no end for a public document, whatever expires', () => {
    const open = { ...document, folder: { ...folder, accessType: 'public' } } as const;
    expect(findAccessEnd(userWith(['d', 2_000], ['o', 3_000]), open)).toBeUndefined();
  });
});

describe('tokenAccessEnd', () => {
  test('returns the end of the token, or the earlier end of its grant', () => {
    expect(tokenAccessEnd(userWith(['d']), document, 5_000)).toBe(5_000_000);
    expect(tokenAccessEnd(userWith(['d', 2_000]), document, 5_000)).toBe(2_000_000);
    expect(tokenAccessEnd(userWith(['d', 9_000]), document, 5_000)).toBe(5_000_000);
    expect(tokenAccessEnd(userWith(['x']), document, 5_000)).toBeUndefined();
  });
});

describe('tokenResources', () => {
  test('returns the resources whose grants in the token give access to the document', () => {
    const user = { ...userWith(['d'], ['x'], ['f'], ['o']), exists: false };
    expect(tokenResources(user, document)).toEqual(['d', 'f']);
    const forMembers = { ...document, folder: { ...folder, accessType: 'organizationPrivate' } } as const;
    expect(tokenResources(user, forMembers)).toEqual(['d', 'f', 'o']);
    expect(tokenResources({ ...userWith(['f', NOW - 1]), exists: false }, document)).toEqual([]);
  });
});

describe('hasLostTokenAccess', () => {
  const moved = { ...document, folder: { ...folder, internalId: 'g' } } as const;
  const below = { ...moved, folder: { ...moved.folder, ancestors: [folder] } } as const;
  test.each([
    ['no resource ends the access', ['d'], moved, false],
    ['the document leaves the folder', ['f'], moved, true],
    ['the document leaves one of the resources', ['d', 'f'], moved, true],
    ['the document moves below the folder', ['d', 'f'], below, false],
    ['the document becomes restricted for a member', ['o'], document, true],
  ])('says whether %s', (_what, resources, changed, isLost) => {
    expect(hasLostTokenAccess({ hasStoredAccess: false, tokenResources: resources }, 'o', changed)).toBe(isLost);
    expect(hasLostTokenAccess({ hasStoredAccess: true, tokenResources: resources }, 'o', changed)).toBe(false);
  });
});

describe('longerAccess', () => {
  test('returns the access that lasts longer, and stored access if both last equally long', () => {
    expect(longerAccess(Infinity, 5)).toEqual({ hasStoredAccess: true });
    expect(longerAccess(4, 5)).toEqual({ hasStoredAccess: false, accessEndsAt: 5 });
    expect(longerAccess(5, 5)).toEqual({ hasStoredAccess: true, accessEndsAt: 5 });
    expect(longerAccess(undefined, 5)).toEqual({ hasStoredAccess: false, accessEndsAt: 5 });
    expect(longerAccess(undefined, undefined)).toBeUndefined();
  });
});

describe('the sweep of sessions', () => {
  const sweep = async (ends: readonly number[], deadline: number) => {
    let now = 0;
    const marked: number[] = [];
    const sessions = {
      markExpired: async () => {
        marked.push(now);
        return ends.find((end) => end > now);
      },
    };
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    await sweepSessions({ sessions, sleep })({ clock: () => now, deadline } as SweepCall);
    return marked;
  };

  test('marks sessions at each end of access during its run', async () => {
    expect(await sweep([10_000, 40_000], 54_500)).toEqual([0, 10_000, 40_000]);
  });

  test('leaves an end of access near its deadline to the next run, and stops without one', async () => {
    expect(await sweep([53_000], 54_500)).toEqual([0]);
    expect(await sweep([], 54_500)).toEqual([0]);
  });
});
