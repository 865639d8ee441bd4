import { describe, expect, test } from '@jest/globals';
import type { AccessType, Grant, UserAccess } from '../../../lib/app/rules/access.ts';
import {
  canSee,
  canSeeWithoutContext,
  type CheckedUser,
  isOpenToAll,
} from '../../../lib/content/rules/threadAccess.ts';
import type { DocumentAccess } from '../../../lib/directory/rules/access.ts';
import type { Visibility } from '../../../lib/directory/rules/visibility.ts';

const documentOf = (accessType: AccessType): DocumentAccess => ({ internalId: 'doc', accessType });
const threadOf = (visibility?: Visibility, accessFields?: string[]) => ({
  visibility,
  accessFields,
  authorId: 'ada',
  organizationId: 'acme',
});
const grant = (resourceType: 'organization' | 'document', accessFields?: string[]): Grant => ({
  resourceType,
  internalId: resourceType === 'document' ? 'doc' : 'org',
  accessRole: 'viewer',
  accessFields,
});
function viewerWith(
  userId: string,
  grants: readonly Grant[] = [],
  more: { memberOf?: CheckedUser['memberOf']; access?: Partial<UserAccess> } = {},
): CheckedUser {
  return {
    userId,
    memberOf: more.memberOf ?? new Set(),
    access: { exists: true, organizationKey: 'org', grants, now: 1_000, ...more.access },
  };
}

const publicDocument = documentOf('public');
/** Returns the ids of those users without grants who see a record. */
const whoSees = (record: Parameters<typeof canSee>[0], userIds = ['ada', 'grace', 'lin'], sees = canSee) =>
  userIds.filter((userId) => sees(record, viewerWith(userId)));

describe('canSee', () => {
  test('requires access to the document, also from the author', () => {
    const guard = { document: documentOf('restricted'), thread: threadOf() };
    expect(whoSees(guard)).toEqual([]);
    expect(canSee(guard, viewerWith('grace', [grant('document')]))).toBe(true);
  });

  test('requires the visibility of the thread, except from the author', () => {
    const restricted = threadOf({ type: 'restricted', userIds: ['grace'] });
    expect(whoSees({ document: publicDocument, thread: restricted })).toEqual(['ada', 'grace']);
    expect(whoSees({ thread: restricted })).toEqual(['ada', 'grace']);
    expect(whoSees({ document: publicDocument, thread: threadOf({ type: 'restricted' }) })).toEqual(['ada']);
    const [ours, theirs] = [undefined, 'partner'].map((organizationId) => ({
      document: publicDocument,
      thread: threadOf({ type: 'organizationPrivate', organizationId }),
    })) as [Parameters<typeof canSee>[0], Parameters<typeof canSee>[0]];
    const member = viewerWith('lin', [grant('organization')]);
    expect([canSee(ours, viewerWith('lin')), canSee(ours, member), canSee(theirs, member)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(canSee(theirs, viewerWith('lin', [], { memberOf: new Set(['partner']) }))).toBe(true);
  });

  test('requires the access context of thread and record, also from the author', () => {
    const guard = {
      document: publicDocument,
      thread: threadOf(undefined, ['region:eu']),
      accessFields: ['level:2'],
    };
    const seen = [['region:eu'], ['level:2'], ['level:2', 'region:eu', 'team:red']].map((fields) =>
      canSee(guard, viewerWith('ada', [grant('organization', fields)])),
    );
    expect(seen).toEqual([false, false, true]);
    expect(canSee(guard, viewerWith('ada'))).toBe(false);
  });

  test('ignores the access context of an ended grant', () => {
    const guard = { document: publicDocument, thread: threadOf(undefined, ['region:eu']) };
    const ended = { ...grant('document', ['region:eu']), expiresAt: 999 };
    expect(canSee(guard, viewerWith('grace', [ended]))).toBe(false);
    const removed = { access: { revocations: [{ organizationKey: 'org', resource: 'org', at: 5, jobId: 'job' }] } };
    expect(canSee(guard, viewerWith('grace', [{ ...grant('document', ['region:eu']), grantedAt: 5 }], removed))).toBe(
      false,
    );
    expect(canSee(guard, viewerWith('grace', [{ ...grant('document', ['region:eu']), grantedAt: 6 }], removed))).toBe(
      true,
    );
  });

  test('allows an unknown user to see a public document unless knownUsersOnly is set', () => {
    const stranger = viewerWith('stranger', [], { access: { exists: false } });
    const [open, known] = [{ document: publicDocument }, { document: publicDocument, knownUsersOnly: true }];
    expect([canSee(open, stranger), canSee(known, stranger), isOpenToAll(known)]).toEqual([true, false, false]);
    expect([canSeeWithoutContext(known, stranger), canSeeWithoutContext(known, viewerWith('lin'))]).toEqual([
      false,
      true,
    ]);
    expect(canSeeWithoutContext({ ...open, accessFields: ['region:eu'] }, stranger)).toBe(true);
  });

  test('ignores the access context of a grant below a folder that the user was removed from', () => {
    const folder = { internalId: 'inner', accessType: 'public' as const, ancestors: [{ internalId: 'outer' }] };
    const guard = { document: { ...documentOf('public'), folder }, accessFields: ['region:eu'] };
    const seenAfterRemoval = (internalId: string, resource: string) => {
      const revocations = [{ organizationKey: 'org', resource, at: 5, jobId: 'job' }];
      const grantOn = { ...grant('document', ['region:eu']), internalId, grantedAt: 5 };
      return canSee(guard, viewerWith('grace', [grantOn], { access: { revocations } }));
    };
    // The grants are on the document, on its folder `inner`, and on the folder `outer` above. A removal ends a grant
    // on the same resource and on everything below it. It does not end a grant on a folder above.
    const chain = ['doc', 'inner', 'outer'];
    expect(chain.map((held) => chain.map((resource) => seenAfterRemoval(held, resource)))).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
    ]);
    // The guard knows only the folders above its own document. Whether `outer` is above `elsewhere` is unknown, so
    // only a removal from `elsewhere` itself ends that grant.
    expect(seenAfterRemoval('elsewhere', 'outer')).toBe(true);
    expect(seenAfterRemoval('elsewhere', 'elsewhere')).toBe(false);
  });
});

describe('isOpenToAll', () => {
  const inFolder = (own: AccessType, accessType: AccessType) => ({
    document: { ...documentOf(own), folder: { internalId: 'f', accessType, ancestors: [] } },
  });

  test.each<[boolean, string, Parameters<typeof isOpenToAll>[0]]>([
    [true, 'a public document', { document: publicDocument, thread: threadOf() }],
    [true, 'a record without a document', {}],
    [true, 'a restricted document in a public folder', inFolder('restricted', 'public')],
    [false, 'a public document in a restricted folder', inFolder('public', 'restricted')],
    [false, 'a restricted document', { document: documentOf('restricted') }],
    [false, 'a document of the organization', { document: documentOf('organizationPrivate') }],
    [false, 'a restricted thread', { document: publicDocument, thread: threadOf({ type: 'restricted', userIds: [] }) }],
    [false, 'a private thread', { document: publicDocument, thread: threadOf({ type: 'organizationPrivate' }) }],
    [
      false,
      'a thread with an access context',
      { document: publicDocument, thread: threadOf({ type: 'public' }, ['region:eu']) },
    ],
    [false, 'a record with an access context', { document: publicDocument, accessFields: ['region:eu'] }],
  ])('is %s for %s', (expected, _what, record) => {
    expect(isOpenToAll(record)).toBe(expected);
  });
});

test('canSeeWithoutContext ignores the access context, and checks document and thread', () => {
  const record = { document: publicDocument, accessFields: ['region:eu'] };
  const thread = threadOf({ type: 'restricted', userIds: ['grace'] });
  expect(whoSees({ ...record, thread }, ['grace', 'lin'], canSeeWithoutContext)).toEqual(['grace']);
  expect(whoSees(record, ['lin'], canSeeWithoutContext)).toEqual(['lin']);
  expect(whoSees({ ...record, document: documentOf('restricted') }, ['lin'], canSeeWithoutContext)).toEqual([]);
});
