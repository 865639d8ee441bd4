import { distinct } from '../../dict.ts';
import { documentPermission, isLive, type ResourceType } from '../../domain/access.ts';
import { type Guarded, maySee, visibleToMembersOf } from '../../domain/content/visibility.ts';
import { DocumentReader } from '../documents.ts';
import type { Place } from '../folders.ts';
import { OrganizationEntity } from '../organizations.ts';
import type { Table } from '../table.ts';
import { GrantEntity, UserEntity } from '../users.ts';
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
  const grants = await table.getMany(GrantEntity, asked.flatMap(({ userId }, index) => {
    const organization = organizations[index]?.internalId;
    return organization === undefined ? [] : [{ tenant, organization, userId, resourceType: 'organization' as const, internalId: organization }];
  }));
  const found = grants.values();
  return organizations.map((organization) => {
    const grant = organization && found.next().value;
    return grant !== undefined && isLive(grant, now / 1000);
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
  const [users, grants] = await Promise.all([
    strangers ? [] : table.getMany(UserEntity, userIds.map((userId) => ({ tenant, userId }))),
    table.getMany(GrantEntity, userIds.flatMap((userId) => resources.map((resource) => ({ tenant, organization: place.organization, userId, ...resource })))),
  ]);
  return new Set(userIds.filter((_userId, index) => {
    const own = grants.slice(index * resources.length, (index + 1) * resources.length).filter((grant) => grant !== undefined);
    const user = { known: strangers || users[index] !== undefined, organizationId: organization.internalId, grants: own, now: now / 1000 };
    return documentPermission(user, placed).errorCode === undefined;
  }));
}
