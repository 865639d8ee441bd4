import type { ResourceType, UserAccess } from '../app/rules/access.ts';
import type { DocumentWithFolder } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { documentPermission, foldersAbove, organizationPermission } from '../directory/rules/access.ts';
import { GrantEntity, isExistingUser, type Profile, type User, UserEntity } from '../directory/users.ts';
import { StoredProfile } from '../shared/schema.ts';
import type { Stored } from '../table/entity.ts';
import { itemOf, type Table } from '../table/table.ts';

export interface NamedPeople {
  /** Unknown users, and users outside the organization without a grant on the document or a folder above it. */
  readonly strangers: ReadonlySet<string>;
  readonly profiles: ReadonlyMap<string, Profile>;
}

/**
 * Two read units per user, and per non-member one for the document and each folder above it. Two rounds of BatchGet.
 */
export async function readPeople(
  table: Table,
  scope: OrganizationScope,
  document: DocumentWithFolder,
  userIds: readonly string[],
  now: number,
): Promise<NamedPeople> {
  const organization = { resourceType: 'organization', internalId: scope.organizationKey } as const;
  const items = await table.batchGet(
    ...userIds.map((userId) => itemOf(UserEntity, { tenant: scope.tenant, userId })),
    ...userIds.map((userId) => itemOf(GrantEntity, { ...scope, userId, ...organization })),
  );
  const users = items.slice(0, userIds.length) as (Stored<User> | undefined)[];
  const existing = users.filter(isExistingUser);
  const memberships = new Map(
    userIds.map((userId, index) => [userId, items[userIds.length + index] as UserAccess['grants'][number] | undefined]),
  );
  const people = existing.map((user) => {
    const membership = memberships.get(user.userId);
    const access: UserAccess = {
      exists: true,
      organizationKey: scope.organizationKey,
      grants: membership ? [membership] : [],
      revocations: user.revocations,
      now: now / 1000,
    };
    return { user, access };
  });
  const others = people.filter(({ access }) => organizationPermission(access).errorCode !== undefined);
  const granted = await findGranted(table, scope, document, others);
  const known = new Set(people.map(({ user }) => user.userId));
  for (const { user } of others) if (!granted.has(user.userId)) known.delete(user.userId);
  return {
    strangers: new Set(userIds.filter((userId) => !known.has(userId))),
    profiles: new Map(existing.map((user) => [user.userId, StoredProfile.parse(user)])),
  };
}

async function findGranted(
  table: Table,
  scope: OrganizationScope,
  document: DocumentWithFolder,
  people: readonly { readonly user: User; readonly access: UserAccess }[],
): Promise<ReadonlySet<string>> {
  const resources: { resourceType: ResourceType; internalId: string }[] = [
    { resourceType: 'document', internalId: document.internalId },
    ...foldersAbove(document).map((internalId) => ({ resourceType: 'folder' as const, internalId })),
  ];
  const keys = people.flatMap(({ user }) =>
    resources.map((resource) => ({ ...scope, userId: user.userId, ...resource })),
  );
  const grants = await table.getMany(GrantEntity, keys);
  const restricted = {
    ...document,
    accessType: 'restricted' as const,
    folder: document.folder && { ...document.folder, accessType: 'restricted' as const },
  };
  const granted = people.filter(({ access }, index) => {
    const own = grants.slice(index * resources.length, (index + 1) * resources.length);
    const all = { ...access, grants: own.filter((grant) => grant !== undefined) };
    return documentPermission(all, restricted).errorCode === undefined;
  });
  return new Set(granted.map(({ user }) => user.userId));
}
