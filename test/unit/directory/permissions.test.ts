import { describe, expect, test } from '@jest/globals';
import type { Grant, Revocation, UserAccess } from '../../../lib/app/rules/access.ts';
import type { FolderAccess } from '../../../lib/directory/rules/access.ts';
import { UserPermissions, userPermissions } from '../../../lib/directory/rules/permissions.ts';

const outer: FolderAccess = { internalId: 'outer', accessType: 'restricted', ancestors: [] };
const inner: FolderAccess = { internalId: 'inner', accessType: 'restricted', ancestors: [{ internalId: 'outer' }] };
const document = { internalId: 'doc', accessType: 'public' as const, folder: inner };
const organization = { organizationId: 'acme' };

const grant = (internalId: string, more: Partial<Grant> = {}): Grant => ({
  resourceType: 'folder',
  internalId,
  accessRole: 'viewer',
  grantedAt: 5,
  ...more,
});
const userWith = (grants: readonly Grant[], more: Partial<UserAccess> = {}): UserAccess => ({
  exists: true,
  organizationKey: 'org',
  grants,
  now: 1_000,
  ...more,
});
const nothing = { organization, folders: [], documents: [] };

describe('userPermissions', () => {
  test('returns only the organization if no folder or document is requested', () => {
    expect(userPermissions(userWith([grant('org', { resourceType: 'organization' })]), nothing)).toEqual({
      organization: { acme: { accessRole: 'viewer' } },
    });
    expect(userPermissions(userWith([]), nothing)).toEqual({
      organization: { acme: { error: 'User does not have access to organization', errorCode: 'permission_denied' } },
    });
  });

  test('returns an entry for each requested folder and document, even if it does not exist', () => {
    const permissions = userPermissions(userWith([grant('outer', { accessRole: 'editor', expiresAt: 2_000 })]), {
      organization,
      folders: [
        { id: 'Inner', folder: inner },
        { id: 'Missing', folder: undefined },
      ],
      documents: [
        { id: 'Document', document },
        { id: 'Missing', document: undefined },
      ],
    });
    const entry = { accessRole: 'editor', accessType: 'restricted', expiresAt: 2_000 };
    expect(permissions).toEqual({
      folders: { Inner: entry, Missing: { error: 'Folder does not exist', errorCode: 'does_not_exist' } },
      documents: { Document: entry, Missing: { error: 'Document does not exist', errorCode: 'does_not_exist' } },
      organization: { acme: expect.objectContaining({ errorCode: 'permission_denied' }) },
    });
  });

  test('returns exactly what the response schema declares', () => {
    const permissions = userPermissions(userWith([grant('outer', { accessFields: ['team:red'] })]), {
      organization,
      folders: [{ id: 'outer', folder: outer }],
      documents: [{ id: 'missing', document: undefined }],
    });
    expect(UserPermissions.parse(permissions)).toEqual(permissions);
    expect(Object.keys(permissions)).toEqual(['folders', 'documents', 'organization', 'context']);
  });

  test('returns the sorted access context of all active grants', () => {
    const user = userWith([
      grant('inner', { accessFields: ['team:red'] }),
      grant('elsewhere', { accessFields: ['region:eu'] }),
      grant('outer', { accessFields: ['level:9'], expiresAt: 1_000 }),
    ]);
    expect(userPermissions(user, nothing).context).toEqual({ accessFields: ['region:eu', 'team:red'] });
  });

  test('leaves out the access context of grants below a folder that the user was removed from', () => {
    const removal: Revocation = { organizationKey: 'org', resource: 'outer', at: 5, jobId: 'job', folder: true };
    const contextOf = (internalId: string, requested: { folder?: FolderAccess; hasDocument?: boolean }) =>
      userPermissions(userWith([grant(internalId, { accessFields: ['team:red'] })], { revocations: [removal] }), {
        organization,
        folders: requested.folder ? [{ id: 'folder', folder: requested.folder }] : [],
        documents: requested.hasDocument ? [{ id: 'doc', document }] : [],
      }).context;
    expect(contextOf('inner', { folder: inner })).toBeUndefined();
    expect(contextOf('doc', { hasDocument: true })).toBeUndefined();
    expect(contextOf('outer', { folder: outer })).toBeUndefined();
    // The request does not show the folders above `inner`, so this grant still counts. A job purges it later.
    expect(contextOf('inner', { folder: outer })).toEqual({ accessFields: ['team:red'] });
  });

  test('keeps the access context of grants above a folder that the user was removed from', () => {
    const removal: Revocation = { organizationKey: 'org', resource: 'inner', at: 5, jobId: 'job', folder: true };
    const user = userWith([grant('outer', { accessFields: ['team:red'] })], { revocations: [removal] });
    const requested = {
      organization,
      folders: [
        { id: 'inner', folder: inner },
        { id: 'outer', folder: outer },
      ],
      documents: [],
    };
    expect(userPermissions(user, requested).context).toEqual({ accessFields: ['team:red'] });
  });
});
