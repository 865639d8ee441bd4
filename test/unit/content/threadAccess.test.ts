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

describe('canSee', () => {
  test('requires access to the document, also from the author', () => {
    const guard = { document: documentOf('restricted'), thread: threadOf() };
    expect(['ada', 'grace'].map((userId) => canSee(guard, viewerWith(userId)))).toEqual([false, false]);
    expect(canSee(guard, viewerWith('grace', [grant('document')]))).toBe(true);
  });

  test('requires the visibility of the thread, except from the author', () => {
    const restricted = { document: documentOf('public'), thread: threadOf({ type: 'restricted', userIds: ['grace'] }) };
    expect(['ada', 'grace', 'lin'].map((userId) => canSee(restricted, viewerWith(userId)))).toEqual([
      true,
      true,
      false,
    ]);
    const ours = { document: documentOf('public'), thread: threadOf({ type: 'organizationPrivate' }) };
    expect([canSee(ours, viewerWith('lin')), canSee(ours, viewerWith('lin', [grant('organization')]))]).toEqual([
      false,
      true,
    ]);
    const theirs = {
      document: documentOf('public'),
      thread: threadOf({ type: 'organizationPrivate', organizationId: 'partner' }),
    };
    expect([
      canSee(theirs, viewerWith('lin', [grant('organization')])),
      canSee(theirs, viewerWith('lin', [], { memberOf: new Set(['partner']) })),
    ]).toEqual([false, true]);
  });

  test('requires the access context of thread and record, also from the author', () => {
    const guard = {
      document: documentOf('public'),
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
    const guard = { document: documentOf('public'), thread: threadOf(undefined, ['region:eu']) };
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
    expect(canSee({ document: documentOf('public') }, stranger)).toBe(true);
    expect(canSee({ document: documentOf('public'), knownUsersOnly: true }, stranger)).toBe(false);
    expect(isOpenToAll({ document: documentOf('public'), knownUsersOnly: true })).toBe(false);
  });

  test('allows nobody but the author to see a restricted thread without users', () => {
    const restricted = { document: documentOf('public'), thread: threadOf({ type: 'restricted' }) };
    expect(['ada', 'grace'].map((userId) => canSee(restricted, viewerWith(userId)))).toEqual([true, false]);
  });

  test('applies the visibility of a thread without a document', () => {
    const restricted = { thread: threadOf({ type: 'restricted', userIds: ['grace'] }) };
    expect(['grace', 'lin'].map((userId) => canSee(restricted, viewerWith(userId)))).toEqual([true, false]);
  });

  test('ignores the access context of a grant below a folder that the user was removed from', () => {
    const folder = { internalId: 'inner', accessType: 'public' as const, ancestors: [{ internalId: 'outer' }] };
    const guard = { document: { ...documentOf('public'), folder }, accessFields: ['region:eu'] };
    const grantOn = (internalId: string) => ({
      ...grant('document', ['region:eu']),
      internalId,
      grantedAt: 5,
    });
    const seenAfterRemoval = (internalId: string, resource: string) =>
      canSee(
        guard,
        viewerWith('grace', [grantOn(internalId)], {
          access: { revocations: [{ organizationKey: 'org', resource, at: 5, jobId: 'job' }] },
        }),
      );
    // The grants are on the document, on its folder `inner`, and on the folder `outer` above. A removal ends a grant
    // on the same resource and on everything below it. It does not end a grant on a folder above.
    expect(['doc', 'inner', 'outer'].map((resource) => seenAfterRemoval('doc', resource))).toEqual([
      false,
      false,
      false,
    ]);
    expect(['doc', 'inner', 'outer'].map((resource) => seenAfterRemoval('inner', resource))).toEqual([
      true,
      false,
      false,
    ]);
    expect(['doc', 'inner', 'outer'].map((resource) => seenAfterRemoval('outer', resource))).toEqual([
      true,
      true,
      false,
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

  test('is true for a public document, and for a record without a document', () => {
    expect([isOpenToAll({}), isOpenToAll({ document: documentOf('public'), thread: threadOf() })]).toEqual([
      true,
      true,
    ]);
  });

  test('is false for a document that is not public', () => {
    for (const accessType of ['restricted', 'organizationPrivate'] as const)
      expect(isOpenToAll({ document: documentOf(accessType) })).toBe(false);
  });

  test('uses the access type of the folder instead of the access type of the document', () => {
    expect([isOpenToAll(inFolder('restricted', 'public')), isOpenToAll(inFolder('public', 'restricted'))]).toEqual([
      true,
      false,
    ]);
  });

  test('is false for a private thread, and for a record or thread with an access context', () => {
    const document = documentOf('public');
    expect([
      isOpenToAll({ document, thread: threadOf({ type: 'restricted', userIds: [] }) }),
      isOpenToAll({ document, thread: threadOf({ type: 'organizationPrivate' }) }),
      isOpenToAll({ document, thread: threadOf({ type: 'public' }, ['region:eu']) }),
      isOpenToAll({ document, accessFields: ['region:eu'] }),
    ]).toEqual([false, false, false, false]);
  });
});

describe('canSeeWithoutContext', () => {
  test('ignores the access context, and checks document and thread', () => {
    const record = { document: documentOf('public'), accessFields: ['region:eu'] };
    expect(canSeeWithoutContext(record, viewerWith('lin'))).toBe(true);
    expect(canSeeWithoutContext({ ...record, document: documentOf('restricted') }, viewerWith('lin'))).toBe(false);
    const thread = threadOf({ type: 'restricted', userIds: ['grace'] });
    expect(['grace', 'lin'].map((userId) => canSeeWithoutContext({ ...record, thread }, viewerWith(userId)))).toEqual([
      true,
      false,
    ]);
  });

  test('allows a known user to see a public document if knownUsersOnly is set', () => {
    const record = { document: documentOf('public'), knownUsersOnly: true };
    expect(canSeeWithoutContext(record, viewerWith('lin'))).toBe(true);
    expect(canSeeWithoutContext(record, viewerWith('lin', [], { access: { exists: false } }))).toBe(false);
  });

  test('allows an unknown user to see a record of a public document with an access context', () => {
    const record = { document: documentOf('public'), accessFields: ['region:eu'] };
    const stranger = viewerWith('stranger', [], { access: { exists: false } });
    expect(canSeeWithoutContext(record, stranger)).toBe(true);
  });
});
