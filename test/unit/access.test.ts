import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  accessFields, accessRoles, accessTypes, type DocumentAccess, documentPermission, type FolderAccess, folderPermission, type Grant, organizationPermission, type UserAccess,
} from '../../lib/domain/access.ts';

const NOW = 1_000;
const ORGANIZATION = 'organization';

/** A chain of folders `f0` (top) to `fN`, a document in the last or in none, and grants on any of it, some ended. */
const folders = fc.integer({ min: 0, max: 4 }).chain((depth) => fc.record({
  accessType: fc.constantFrom(...accessTypes),
  chain: fc.constant(Array.from({ length: depth }, (_, i) => ({ internalId: `f${i}` }))),
}));
const folderOf = ({ accessType, chain }: { accessType: (typeof accessTypes)[number]; chain: { internalId: string }[] }): FolderAccess | undefined => {
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
const users = fc.record({ known: fc.boolean(), grants }).map((user): UserAccess => ({ ...user, organizationId: ORGANIZATION, now: NOW }));
const documents = fc.record({ own: fc.constantFrom(...accessTypes), folders }).map(({ own, folders: of }): DocumentAccess => ({ internalId: 'document', accessType: own, folder: folderOf(of) }));

const live = (user: UserAccess, id: string) => user.grants.find((grant) => grant.internalId === id && (grant.expiresAt ?? Infinity) > NOW);

describe('documentPermission', () => {
  test('an explicit grant that has not ended decides, whatever is inherited (design 14)', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      const own = live(user, 'document');
      fc.pre(own !== undefined);
      expect(documentPermission(user, document)).toMatchObject({ accessRole: own?.accessRole });
    }));
  });

  test('the access type is the folder\'s when there is one, denied or not (spec 2)', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      expect(documentPermission(user, document).accessType).toBe(document.folder?.accessType ?? document.accessType);
    }));
  });

  test('an entry has either a role or an error, never both', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      const entry = documentPermission(user, document);
      expect(entry.accessRole === undefined).toBe(entry.errorCode === 'permission_denied');
    }));
  });

  test('without a live grant on it, its folders or the organization, only public opens, and only to known users', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      const without = { ...user, grants: user.grants.filter(({ internalId }) => internalId === 'other' || !live(user, internalId)) };
      const open = user.known && (document.folder?.accessType ?? document.accessType) === 'public';
      expect(documentPermission(without, document).accessRole).toBe(open ? 'editor' : undefined);
    }));
  });

  test('nothing but grants on folders above and on itself opens a restricted document', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      fc.pre((document.folder?.accessType ?? document.accessType) === 'restricted');
      const above = ['document', ...(document.folder ? [document.folder.internalId, ...document.folder.ancestors.map(({ internalId }) => internalId)] : [])];
      expect(documentPermission(user, document).accessRole !== undefined).toBe(above.some((id) => live(user, id)));
    }));
  });

  test('the nearest live grant decides: its own, then its folder\'s, then those above it from below', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      const { folder } = document;
      const chain = ['document', ...(folder ? [folder.internalId, ...folder.ancestors.map(({ internalId }) => internalId).reverse()] : [])];
      const nearest = chain.map((id) => live(user, id)).find((grant) => grant !== undefined);
      fc.pre(nearest !== undefined);
      expect(documentPermission(user, document).accessRole).toBe(nearest?.accessRole);
    }), { numRuns: 500 });
  });

  test('without an own grant it opens exactly as its folder does', () => {
    fc.assert(fc.property(users, documents, (user, document) => {
      fc.pre(document.folder !== undefined && live(user, 'document') === undefined);
      const { accessRole, expiresAt } = folderPermission(user, document.folder!);
      expect(documentPermission(user, document)).toMatchObject({ ...(accessRole && { accessRole }), ...(expiresAt && { expiresAt }) });
    }));
  });
});

describe('a grant', () => {
  const user = (grant: Partial<Grant>): UserAccess => ({
    known: true, organizationId: ORGANIZATION, now: NOW, grants: [{ resourceType: 'organization', internalId: ORGANIZATION, accessRole: 'viewer', ...grant }],
  });

  test('ends at the second that expiresAt names', () => {
    expect(organizationPermission(user({ expiresAt: NOW + 1 }))).toEqual({ accessRole: 'viewer', expiresAt: NOW + 1 });
    expect(organizationPermission(user({ expiresAt: NOW }))).toMatchObject({ errorCode: 'permission_denied' });
  });

  test('of membership that ends closes what is private to the organization, and leaves open what is public', () => {
    const member = user({ expiresAt: NOW + 1 });
    expect(folderPermission(member, { internalId: 'f', accessType: 'organizationPrivate', ancestors: [] })).toEqual({ accessRole: 'viewer', accessType: 'organizationPrivate', expiresAt: NOW + 1 });
    expect(folderPermission(member, { internalId: 'f', accessType: 'public', ancestors: [] })).toEqual({ accessRole: 'viewer', accessType: 'public' });
  });
});

describe('accessFields', () => {
  test('are sorted, distinct and one per value', () => {
    expect(accessFields({ b: [2, 'x', 2], a: 'y', c: [] })).toEqual(['a:y', 'b:2', 'b:x']);
  });
});
