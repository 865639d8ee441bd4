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
  canHaveEnded,
  contextAllows,
  type DocumentAccess,
  documentPermission,
  everywhere,
  findAccessEnd,
  type FolderAccess,
  folderPermission,
  hasEnded,
  hasEndedInDocument,
  MAX_REVOCATIONS,
  organizationPermission,
  withoutRevocations,
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

const foldersOf = ({ folder }: DocumentAccess) =>
  folder ? [...folder.ancestors, folder].map(({ internalId }) => internalId) : [];

const activeGrant = (user: UserAccess, id: string) =>
  user.grants.find((grant) => grant.internalId === id && (grant.expiresAt ?? Infinity) > NOW);

/** What the rules say: the nearest grant in `chain` counts, then membership, then a public access type. */
function expectedEntry(user: UserAccess, type: string, accessType: (typeof accessTypes)[number], chain: string[]) {
  const nearest = chain.map((id) => activeGrant(user, id)).find((grant) => grant !== undefined);
  const member = accessType === 'restricted' ? undefined : activeGrant(user, ORGANIZATION);
  const { accessRole } = nearest ?? member ?? {};
  if (accessRole)
    return { accessRole, accessType, expiresAt: (nearest ?? (accessType === 'public' ? {} : member!)).expiresAt };
  if (accessType === 'public' && user.exists) return { accessRole: 'editor', accessType };
  return { error: `User does not have access to ${type}`, errorCode: 'permission_denied', accessType };
}

testProperty(
  'the nearest grant that has not expired counts, then membership, then the access type of the folder or else of the document',
  [users, documents],
  (user, document) => {
    const { folder } = document;
    const chain = folder ? foldersOf(document).reverse() : [];
    const accessType = folder?.accessType ?? document.accessType;
    expect(documentPermission(user, document)).toEqual(
      expectedEntry(user, 'document', accessType, ['document', ...chain]),
    );
    if (folder) expect(folderPermission(user, folder)).toEqual(expectedEntry(user, 'folder', accessType, chain));
    expect(organizationPermission(user)).toEqual(
      expectedEntry(user, 'organization', undefined as never, [ORGANIZATION]),
    );
  },
  { numRuns: 1_000 },
);

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

test('accessFields returns sorted, distinct items, one per value', () => {
  expect(accessFields({ b: [2, 'x', 2], a: 'y', c: [] })).toEqual(['a:y', 'b:2', 'b:x']);
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
    const leave = (resource: string, organizationKey = ORGANIZATION) => removal(resource, { organizationKey, at: 1 });
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

  const removal = (resource: string, more: Partial<Revocation> = {}): Revocation => ({
    organizationKey: ORGANIZATION,
    resource,
    at: 5,
    jobId: 'job',
    ...more,
  });

  test.each<[removed: Revocation, inDocument: boolean, anywhere: boolean]>([
    [removal('document'), true, true],
    [removal('f0', { folder: true }), true, true],
    [removal('f1', { folder: true }), true, true],
    [removal(ORGANIZATION), true, true],
    [removal('f9', { folder: true }), false, true],
    [removal('f9', { folder: true, organizationKey: 'elsewhere' }), false, false],
    [removal('other'), false, false],
    [removal('document', { at: 4 }), false, false],
  ])('by %j end access of that time in a document: %s, and in one of unknown folders: %s', (removed, ends, canEnd) => {
    const folder: FolderAccess = { internalId: 'f1', accessType: 'restricted', ancestors: [{ internalId: 'f0' }] };
    const document: DocumentAccess = { internalId: 'document', accessType: 'restricted', folder };
    expect(hasEndedInDocument([removed], document, ORGANIZATION, 5)).toBe(ends);
    expect(canHaveEnded([removed], { organizationKey: ORGANIZATION, internalId: 'document' }, 5)).toBe(canEnd);
  });

  test('of a job are taken from a user when the job ends', () => {
    const [own, other] = [removal('f0'), removal('f0', { jobId: 'other' })];
    expect(withoutRevocations({ revocations: [own, other] }, 'job')).toEqual({ revocations: [other] });
    expect(withoutRevocations({ revocations: [own] }, 'job')).toStrictEqual({ revocations: undefined });
    for (const user of [{ revocations: [other] }, { revocations: undefined }])
      expect(withoutRevocations(user, 'job')).toBe(user);
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

test.each([
  [['level:2', 'region:eu'], ['level:2', 'region:eu', 'team:red'], true],
  [['level:2', 'region:eu'], ['level:2'], false],
  [['level:2'], undefined, false],
  [undefined, undefined, true],
  [[], ['level:2'], true],
])('a record with the items %j is visible in the context %j: %s', (required, allowed, expected) => {
  expect(contextAllows({ accessFields: required }, allowed)).toBe(expected);
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

  test.each([
    ['document', 10, {}, 'viewer'],
    ['document', 10, { document: 9 }, 'viewer'],
    ['document', 10, { document: 10 }, undefined],
    ['document', 10, { document: 11 }, undefined],
    ['document', 10, { outer: 10 }, undefined],
    ['document', 10, { inner: 9, outer: 10 }, undefined],
    ['outer', 10, { document: 10, inner: 10 }, 'viewer'],
    ['inner', 10, { document: 10, outer: 10 }, undefined],
    ['document', undefined, { document: 10, inner: 10, outer: 10 }, 'viewer'],
  ])(
    'on the %s with the token time %s gives in the document, after the moves %j, the role %s',
    (of, since, moved, role) => {
      expect(roleWith(grantOn(of, since), moved)).toBe(role);
    },
  );
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

  test.each<[grants: (readonly [internalId: string, expiresAt?: number])[], end: number | undefined]>([
    [[['document', NOW + 5]], NOW + 5],
    [
      [
        ['f0', NOW + 20],
        ['document', NOW + 5],
        ['other', NOW + 30],
      ],
      NOW + 20,
    ],
    [[['document', NOW + 5], ['f0']], undefined],
    [
      [
        ['other', NOW - 5],
        ['f0', NOW],
        ['document', NOW + 5],
      ],
      NOW + 5,
    ],
  ])('with the grants %j is %s: the end of the last grant on the document and its folders', (grants, end) => {
    expect(endWith(...grants)).toBe(end);
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
