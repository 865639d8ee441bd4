import { distinct } from '../../dict.ts';
import { documentPermission, type Grant, organizationPermission, type ResourceType } from '../../domain/access.ts';
import { type Guarded, maySee, visibleToMembersOf } from '../../domain/content/visibility.ts';
import { DocumentReader } from '../documents.ts';
import type { Stored } from '../entity.ts';
import { departuresOf } from '../folderDepartures.ts';
import type { Place } from '../folders.ts';
import { OrganizationEntity } from '../organizations.ts';
import { type Table, wanted } from '../table.ts';
import { GrantEntity, type User, UserEntity } from '../users.ts';
import type { ContentPlace } from './places.ts';
import { ThreadEntity } from './threads.ts';

/** A user and an organization, under the customer's ids. */
export interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/** Whether each user is a member of the organization beside it; nobody is of one that does not exist. Two dependent BatchGets, none for none. */
export async function memberships(table: Table, tenant: string, asked: readonly Membership[], now: number): Promise<boolean[]> {
  const organizations = await table.getMany(OrganizationEntity, asked.map(({ organizationId }) => ({ tenant, organizationId })));
  const [users, grants] = await usersAndGrants(table, tenant, asked.flatMap(({ userId }, index) => {
    const organization = organizations[index]?.internalId;
    return organization === undefined ? [] : [{ organization, userId, resourceType: 'organization' as const, internalId: organization }];
  }));
  const found = [grants.values(), users.values()] as const;
  return organizations.map((organization) => {
    if (!organization) return false;
    const [grant, user] = [found[0].next().value, found[1].next().value];
    const access = { known: true, organizationId: organization.internalId, grants: grant ? [grant] : [], departures: user?.departures, now: now / 1000 };
    return organizationPermission(access).errorCode === undefined;
  });
}

/** Where a thread is: its document's internal id, and what its key is made of. */
interface ThreadPosition {
  readonly document: string;
  readonly annotationId: string;
  readonly createdAt: number;
}

/** Who may see some threads, as they are now; undefined where one is gone. `organizationId` is the customer's. One BatchGet, none for none. */
export async function guardsOf(table: Table, { tenant, organization }: Place, organizationId: string, threads: readonly ThreadPosition[]): Promise<(Guarded | undefined)[]> {
  const found = await table.getMany(ThreadEntity, threads.map(({ document, annotationId, createdAt }) => ({ tenant, organization, document, annotationId, createdAt })));
  return found.map((thread) => thread && { visibility: thread.visibility, authorId: thread.from.userId, organizationId });
}

/** Which of some threads a user may see, as far as their visibility goes. Reads only when membership decides. */
export async function visibleTo(table: Table, tenant: string, userId: string, threads: readonly Guarded[], now: number): Promise<boolean[]> {
  const organizationIds = distinct(threads.flatMap((thread) => visibleToMembersOf(thread) ?? []));
  const isMember = await memberships(table, tenant, organizationIds.map((organizationId) => ({ organizationId, userId })), now);
  const memberOf = new Set(organizationIds.filter((_organizationId, index) => isMember[index]));
  return threads.map((thread) => maySee(thread, userId, memberOf.has(visibleToMembersOf(thread) ?? '')));
}

/**
 * Which of the users have access to a document, by the rules of permissions (spec 4.1); none when its folder is gone. `strangers` says
 * whether users that the tenant does not know are treated like those that it does. One BatchGet per 100 keys, after one more for the
 * folder when the document lies in one.
 */
export async function usersWithAccess(
  table: Table, { place, organization, document }: ContentPlace, userIds: readonly string[], { now, strangers = false }: { now: number; strangers?: boolean },
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const { tenant } = place;
  const [placed] = await new DocumentReader(table).placed(place, [{ ...document, _r: 0 }]);
  if (!placed) return new Set();
  if (strangers && (placed.folder?.accessType ?? placed.accessType) === 'public') return new Set(userIds);
  const folders = placed.folder ? [placed.folder, ...placed.folder.ancestors] : [];
  const resources: { resourceType: ResourceType; internalId: string }[] = [
    { resourceType: 'organization', internalId: organization.internalId },
    { resourceType: 'document', internalId: document.internalId },
    ...folders.map(({ internalId }) => ({ resourceType: 'folder' as const, internalId })),
  ];
  const [users, grants] = await usersAndGrants(table, tenant, userIds.flatMap((userId) => resources.map((resource) => ({ organization: place.organization, userId, ...resource }))));
  const departures = await departuresOf(table, place, users);
  return new Set(userIds.filter((_userId, index) => {
    const first = index * resources.length;
    const own = grants.slice(first, first + resources.length).filter((grant) => grant !== undefined);
    const known = users[first];
    const user = { known: strangers || known !== undefined, organizationId: organization.internalId, grants: own, departures: departures[first], now: now / 1000 };
    return documentPermission(user, placed).errorCode === undefined;
  }));
}

interface GrantKey {
  readonly organization: string;
  readonly userId: string;
  readonly resourceType: ResourceType;
  readonly internalId: string;
}

/** Grants, and beside each the user, who may have left since. One BatchGet per 100 keys, users once. */
async function usersAndGrants(table: Table, tenant: string, keys: readonly GrantKey[]) {
  if (keys.length === 0) return [[], []] as const;
  const found = await table.getEach(
    ...keys.map(({ userId }) => wanted(UserEntity, { tenant, userId })),
    ...keys.map((key) => wanted(GrantEntity, { tenant, ...key })),
  );
  return [found.slice(0, keys.length) as (Stored<User> | undefined)[], found.slice(keys.length) as (Stored<Grant> | undefined)[]] as const;
}
