import { describe, expect, test } from '@jest/globals';
import type { AccessType, DocumentAccess, Grant, UserAccess } from '../../../lib/directory/rules/access.ts';
import { isOpenToAll, canSee, type CheckedUser } from '../../../lib/content/rules/threadAccess.ts';
import type { Visibility } from '../../../lib/content/rules/visibility.ts';

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
    access: { exists: true, organizationId: 'org', grants, now: 1_000, ...more.access },
  };
}

describe('maySee', () => {
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
});
