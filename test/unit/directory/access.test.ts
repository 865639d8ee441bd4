import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  accessRoles,
  accessTypes,
  type Grant,
  type Revocation,
  type UserAccess,
} from '../../../lib/app/rules/access.ts';
import {
  accessContext,
  accessFields,
  accessTimeAfter,
  addRevocation,
  contextAllows,
  type DocumentAccess,
  documentPermission,
  everywhere,
  findAccessEnd,
  type FolderAccess,
  folderPermission,
  hasEnded,
  MAX_REVOCATIONS,
  organizationPermission,
} from '../../../lib/directory/rules/access.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const NOW = 1_000;
const ORGANIZATION = 'organization';

/**
 * Generates a chain of folders from `f0` (top) to `fN`, perhaps a document in the last one, and grants on any of them.
 * Some grants have expired.
 */
const folders = fc.integer({ min: 0, max: 4 }).chain((depth) =>
  fc.record({
    accessType: fc.constantFrom(...accessTypes),
    chain: fc.constant(times(depth, (i) => ({ internalId: `f${i}` }))),
  }),
);
const folderOf = ({
  accessType,
  chain,
}: {
  accessType: (typeof accessTypes)[number];
  chain: { internalId: string }[];
}): FolderAccess | undefined => {
  const last = chain.at(-1);
  return last && { internalId: last.internalId, accessType, ancestors: chain.slice(0, -1) };
};
const grants = fc.uniqueArray(
  fc.record({
    resourceType: fc.constant('folder' as const),
    internalId: fc.constantFrom(ORGANIZATION, 'document', 'f0', 'f1', 'f2', 'f3', 'other'),
    accessRole: fc.constantFrom(...accessRoles),
    expiresAt: fc.constantFrom(undefined, NOW - 1, NOW, NOW + 1),
  }),
  { selector: ({ internalId }) => internalId },
);
const users = fc
  .record({ exists: fc.boolean(), grants })
  .map((user): UserAccess => ({ ...user, organizationKey: ORGANIZATION, now: NOW }));
const documents = fc
  .record({ own: fc.constantFrom(...accessTypes), folders })
  .map(({ own, folders: of }): DocumentAccess => ({ internalId: 'document', accessType: own, folder: folderOf(of) }));

const activeGrant = (user: UserAccess, id: string) =>
  user.grants.find((grant) => grant.internalId === id && (grant.expiresAt ?? Infinity) > NOW);

describe('documentPermission', () => {
  testProperty(
    'an active explicit grant overrides everything that is inherited',
    [users, documents],
    (user, document) => {
      const own = activeGrant(user, 'document');
      fc.pre(own !== undefined);
      expect(documentPermission(user, document)).toMatchObject({ accessRole: own.accessRole });
    },
  );

  testProperty(
    'the access type of a folder applies to its documents, also when access is denied',
    [users, documents],
    (user, document) => {
      expect(documentPermission(user, document).accessType).toBe(document.folder?.accessType ?? document.accessType);
    },
  );

  testProperty('an entry has either a role or an error, never both', [users, documents], (user, document) => {
    const entry = documentPermission(user, document);
    expect(entry.accessRole === undefined).toBe(entry.errorCode === 'permission_denied');
  });

  testProperty(
    'without an active grant only public resources are open, and only to known users',
    [users, documents],
    (user, document) => {
      const without = {
        ...user,
        grants: user.grants.filter(({ internalId }) => internalId === 'other' || !activeGrant(user, internalId)),
      };
      const open = user.exists && (document.folder?.accessType ?? document.accessType) === 'public';
      expect(documentPermission(without, document).accessRole).toBe(open ? 'editor' : undefined);
    },
  );

  testProperty(
    'a restricted document opens only by a grant on itself or on an ancestor folder',
    [users, documents],
    (user, document) => {
      fc.pre((document.folder?.accessType ?? document.accessType) === 'restricted');
      const above = [
        'document',
        ...(document.folder
          ? [document.folder.internalId, ...document.folder.ancestors.map(({ internalId }) => internalId)]
          : []),
      ];
      expect(documentPermission(user, document).accessRole !== undefined).toBe(
        above.some((id) => activeGrant(user, id)),
      );
    },
  );

  testProperty(
    'the nearest active grant applies: on the document, then on its folder, then on the ancestors from near to far',
    [users, documents],
    (user, document) => {
      const { folder } = document;
      const chain = [
        'document',
        ...(folder ? [folder.internalId, ...folder.ancestors.map(({ internalId }) => internalId).reverse()] : []),
      ];
      const nearest = chain.map((id) => activeGrant(user, id)).find((grant) => grant !== undefined);
      fc.pre(nearest !== undefined);
      expect(documentPermission(user, document).accessRole).toBe(nearest.accessRole);
    },
    { numRuns: 500 },
  );

  testProperty(
    'a document without its own grant has the same access as its folder',
    [users, documents],
    (user, document) => {
      fc.pre(document.folder !== undefined && activeGrant(user, 'document') === undefined);
      const { accessRole, expiresAt } = folderPermission(user, document.folder);
      expect(documentPermission(user, document)).toMatchObject({
        ...(accessRole && { accessRole }),
        ...(expiresAt && { expiresAt }),
      });
    },
  );
});

describe('a grant', () => {
  const user = (grant: Partial<Grant>): UserAccess => ({
    exists: true,
    organizationKey: ORGANIZATION,
    now: NOW,
    grants: [{ resourceType: 'organization', internalId: ORGANIZATION, accessRole: 'viewer', ...grant }],
  });

  test('expires at the second of expiresAt', () => {
    expect(organizationPermission(user({ expiresAt: NOW + 1 }))).toEqual({ accessRole: 'viewer', expiresAt: NOW + 1 });
    expect(organizationPermission(user({ expiresAt: NOW }))).toMatchObject({ errorCode: 'permission_denied' });
  });

  test('for membership limits organizationPrivate resources to its expiresAt, but not public ones', () => {
    const member = user({ expiresAt: NOW + 1 });
    expect(folderPermission(member, { internalId: 'f', accessType: 'organizationPrivate', ancestors: [] })).toEqual({
      accessRole: 'viewer',
      accessType: 'organizationPrivate',
      expiresAt: NOW + 1,
    });
    expect(folderPermission(member, { internalId: 'f', accessType: 'public', ancestors: [] })).toEqual({
      accessRole: 'viewer',
      accessType: 'public',
    });
  });
});

test('many documents are checked without a search through all grants of the user for each', () => {
  let comparisons = 0;
  const many = times(100, (i) => ({
    resourceType: 'document' as const,
    get internalId() {
      comparisons++;
      return `d${i}`;
    },
    accessRole: 'viewer' as const,
  }));
  const user: UserAccess = { exists: true, organizationKey: ORGANIZATION, now: NOW, grants: many };
  const ancestors = times(19, (i) => ({ internalId: `f${i}` }));
  const folder: FolderAccess = { internalId: 'f19', accessType: 'restricted', ancestors };
  const entries = times(200, (i) =>
    documentPermission(user, { internalId: `d${i}`, accessType: 'restricted', folder }),
  );
  expect(entries.filter(({ accessRole }) => accessRole === 'viewer')).toHaveLength(100);
  expect(comparisons).toBeLessThan(1_000);
});

describe('accessFields', () => {
  test('returns sorted, distinct items, one per value', () => {
    expect(accessFields({ b: [2, 'x', 2], a: 'y', c: [] })).toEqual(['a:y', 'b:2', 'b:x']);
  });
});

describe('revocations', () => {
  const resources = [ORGANIZATION, 'document', 'f0', 'f1', 'f2', 'f3', 'other'];
  const moments = fc.integer({ min: 0, max: 6 });
  const timed = fc.uniqueArray(
    fc.record({
      resourceType: fc.constant('folder' as const),
      internalId: fc.constantFrom(...resources),
      accessRole: fc.constantFrom(...accessRoles),
      grantedAt: moments,
    }),
    { selector: ({ internalId }) => internalId },
  );
  const left = fc.array(
    fc.record({
      organizationKey: fc.constant(ORGANIZATION),
      resource: fc.constantFrom(...resources),
      at: moments,
      jobId: fc.constant('job'),
    }),
    { maxLength: 4 },
  );
  const leavers = fc
    .record({ grants: timed, revocations: left })
    .map((user): UserAccess & { revocations: Revocation[] } => ({
      ...user,
      exists: true,
      organizationKey: ORGANIZATION,
      now: NOW,
    }));
  const foldersOf = ({ folder }: DocumentAccess) =>
    folder ? [...folder.ancestors.map(({ internalId }) => internalId), folder.internalId] : [];

  testProperty(
    'void exactly the earlier grants on the resource of the removal and on resources below it',
    [leavers, documents],
    (user, document) => {
      const path = [...foldersOf(document), 'document'];
      const remaining = user.grants.filter(({ internalId, grantedAt = 0 }) => {
        const above = [ORGANIZATION, ...path.slice(0, path.indexOf(internalId) + 1), internalId];
        return !user.revocations.some(({ resource, at }) => above.includes(resource) && grantedAt <= at);
      });
      const never = { ...user, grants: remaining, revocations: [] };
      expect(documentPermission(user, document)).toEqual(documentPermission(never, document));
      expect(organizationPermission(user)).toEqual(organizationPermission(never));
      if (document.folder)
        expect(folderPermission(user, document.folder)).toEqual(folderPermission(never, document.folder));
    },
    { numRuns: 1_000 },
  );

  testProperty(
    'void every earlier grant and no later grant',
    [left, moments, fc.constantFrom(...resources)],
    (revocations, now, resource) => {
      const accessTime = accessTimeAfter(revocations, ORGANIZATION, now);
      expect(accessTime).toBeGreaterThanOrEqual(now);
      expect(hasEnded(revocations, [resource, ...resources], accessTime)).toBe(false);
      const next = addRevocation(revocations, { organizationKey: ORGANIZATION, resource, at: now, jobId: 'new' }, [
        accessTime,
      ])!;
      expect(hasEnded(next, [resource], accessTime)).toBe(true);
      expect(hasEnded(next, [resource], accessTimeAfter(next, ORGANIZATION, now))).toBe(false);
      for (const scope of resources)
        for (let time = 0; time <= 6; time++)
          if (hasEnded(revocations, [scope, ORGANIZATION], time))
            expect(hasEnded(next, [scope, ORGANIZATION], time)).toBe(true);
    },
  );

  test('are dropped if a new one covers them, limited in number, and separate for each organization', () => {
    const leave = (resource: string, organization = ORGANIZATION): Revocation => ({
      organizationKey: organization,
      resource,
      at: 1,
      jobId: `job of ${resource}`,
    });
    const two = [leave('f0'), leave('document')];
    expect(addRevocation(two, leave('f0'))!.map(({ resource }) => resource)).toEqual(['document', 'f0']);
    expect(
      addRevocation([...two, leave('there', 'elsewhere')], leave(ORGANIZATION))!.map(({ resource }) => resource),
    ).toEqual(['there', ORGANIZATION]);
    expect(accessTimeAfter([leave('there', 'elsewhere')], ORGANIZATION, 0)).toBe(0);
    const full = times(MAX_REVOCATIONS, (i) => leave(`d${i}`));
    expect([
      addRevocation(full, leave('one more')),
      addRevocation(full, leave('d7'))?.length,
      addRevocation(undefined, leave('first'))?.length,
    ]).toEqual([undefined, MAX_REVOCATIONS, 1]);
    expect(addRevocation(full, leave(everywhere, everywhere))).toHaveLength(MAX_REVOCATIONS + 1);
  });

  test('of the same folder replace each other', () => {
    const leave = (jobId: string): Revocation => ({
      organizationKey: ORGANIZATION,
      resource: 'f0',
      at: 1,
      jobId,
      folder: true,
    });
    expect(addRevocation([leave('first')], leave('second'))!.map(({ jobId }) => jobId)).toEqual(['second']);
  });

  test('end the access context of a grant if the folders above its resource are known', () => {
    const grants = ['document', 'elsewhere'].map((internalId): Grant => ({
      resourceType: 'document',
      internalId,
      accessRole: 'editor',
      grantedAt: 1,
      accessFields: [`of:${internalId}`],
    }));
    const user: UserAccess = {
      exists: true,
      organizationKey: ORGANIZATION,
      grants,
      revocations: [{ organizationKey: ORGANIZATION, resource: 'f0', at: 1, jobId: 'job' }],
      now: NOW,
    };
    expect([accessContext(user), accessContext(user, (id) => (id === 'document' ? ['f0'] : []))]).toEqual([
      ['of:document', 'of:elsewhere'],
      ['of:elsewhere'],
    ]);
  });
});

describe('contextAllows', () => {
  test('requires every item of the record', () => {
    const record = { accessFields: ['level:2', 'region:eu'] };
    expect([contextAllows(record, ['level:2', 'region:eu', 'team:red']), contextAllows(record, ['level:2'])]).toEqual([
      true,
      false,
    ]);
    expect(contextAllows(record)).toBe(false);
  });

  test('allows every context to see a record without items', () => {
    expect([contextAllows({}), contextAllows({}, ['level:2']), contextAllows({ accessFields: [] })]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('a grant of a user token', () => {
  const grantOn = (internalId: string, unmovedSince?: number): Grant => ({
    resourceType: 'folder',
    internalId,
    accessRole: 'viewer',
    unmovedSince,
  });
  const roleWith = (grant: Grant, moved: { document?: number; inner?: number; outer?: number }) =>
    documentPermission(
      { exists: true, organizationKey: ORGANIZATION, grants: [grant], now: NOW },
      {
        internalId: 'document',
        accessType: 'restricted',
        movedAt: moved.document,
        folder: {
          internalId: 'inner',
          accessType: 'restricted',
          movedAt: moved.inner,
          ancestors: [{ internalId: 'outer', movedAt: moved.outer }],
        },
      },
    ).accessRole;

  test('ends if its resource or a folder above it was moved at or after the token time', () => {
    expect([roleWith(grantOn('document', 10), {}), roleWith(grantOn('document', 10), { document: 9 })]).toEqual([
      'viewer',
      'viewer',
    ]);
    for (const moved of [{ document: 10 }, { document: 11 }, { inner: 10 }, { outer: 10 }, { inner: 9, outer: 10 }])
      expect([moved, roleWith(grantOn('document', 10), moved)]).toEqual([moved, undefined]);
  });

  test('stays valid if only a document or folder below its resource was moved', () => {
    expect(roleWith(grantOn('outer', 10), { document: 10, inner: 10 })).toBe('viewer');
    expect(roleWith(grantOn('inner', 10), { document: 10, outer: 10 })).toBeUndefined();
  });

  test('stays valid after moves if the token has no time', () => {
    expect(roleWith(grantOn('document'), { document: 10, inner: 10, outer: 10 })).toBe('viewer');
  });
});

describe('findAccessEnd', () => {
  const document: DocumentAccess = {
    internalId: 'document',
    accessType: 'restricted',
    folder: { internalId: 'f0', accessType: 'restricted', ancestors: [] },
  };
  const endWith = (...grants: (readonly [internalId: string, expiresAt?: number])[]) =>
    findAccessEnd(
      {
        exists: true,
        organizationKey: ORGANIZATION,
        now: NOW,
        grants: grants.map(([internalId, expiresAt]) => ({
          resourceType: 'folder',
          internalId,
          accessRole: 'viewer',
          expiresAt,
        })),
      },
      document,
    );

  test('returns when the last grant on the document and its folders expires', () => {
    expect(endWith(['document', NOW + 5])).toBe(NOW + 5);
    expect(endWith(['f0', NOW + 20], ['document', NOW + 5])).toBe(NOW + 20);
    expect(endWith(['other', NOW + 30], ['document', NOW + 5])).toBe(NOW + 5);
    expect(endWith(['document', NOW + 5], ['f0', NOW + 20], ['other', NOW + 30])).toBe(NOW + 20);
  });

  test('returns undefined if a grant without an end remains', () => {
    expect(endWith(['document'])).toBeUndefined();
    expect(endWith(['document', NOW + 5], ['f0'])).toBeUndefined();
  });

  test('ignores grants that have already expired', () => {
    expect(endWith(['other', NOW - 5], ['f0', NOW], ['document', NOW + 5])).toBe(NOW + 5);
  });
});

test('the revocation of an erased user ends the grants of every organization', () => {
  const erased: Revocation = { organizationKey: everywhere, resource: everywhere, at: 5, jobId: 'job' };
  expect(everywhere).toBe('*');
  expect([hasEnded([erased], ['f0', ORGANIZATION], 5), hasEnded([erased], ['f0', ORGANIZATION], 6)]).toEqual([
    true,
    false,
  ]);
});
