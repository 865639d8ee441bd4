import type { OrganizationScope } from '../directory/organizationScope.ts';
import { GroupMemberEntity } from '../directory/userGroups.ts';
import { ContactEntity, GrantEntity, userIndex } from '../directory/users.ts';
import {
  NotificationSettingsEntity,
  settingsOfDocuments,
  settingsPrefix,
} from '../notifications/notificationSettings.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Entity } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import { pages } from '../table/pages.ts';
import { remove, type Table, type WriteOp } from '../table/table.ts';

const PAGE = 1_000;
const PARALLEL = 8;

export interface UserAccessPurge {
  /** Items that were written after this time (epoch ms) stay. */
  readonly removedAt: number;
  /** Only on these folders and documents. If undefined, in the whole organization, including its groups. */
  readonly within?: ReadonlySet<string> | undefined;
}

/** Purges a user's grants, contacts, groups and notification settings, each at the revision that was read. */
export async function purgeUserAccess(
  table: Table,
  user: OrganizationScope & { readonly userId: string },
  { removedAt, within }: UserAccessPurge,
): Promise<void> {
  const isIncluded = (internalId: string) => within === undefined || within.has(internalId);
  await Promise.all([
    purgeGrants(),
    purgeListed('contact', ContactEntity, (resource) => ({ ...user, resource })),
    within === undefined && purgeListed('group', GroupMemberEntity, (groupKey) => ({ ...user, groupKey })),
    purgeSettings(),
  ]);

  async function purgeGrants(): Promise<void> {
    const read = (after: string | undefined) =>
      table.query(GrantEntity, user, { prefix: ['GRANT'], limit: PAGE, after });
    for await (const { values } of pages(read)) {
      const purged = values.filter(({ internalId, grantedAt }) => grantedAt <= removedAt && isIncluded(internalId));
      await removeEach(purged.map((grant) => remove(GrantEntity, { ...grant, ...user }, grant._r)));
    }
  }

  async function purgeListed<T extends { addedAt: number }, P, K>(
    kind: string,
    entity: Entity<T, P, K>,
    keyOf: (internalId: string) => P & K,
  ): Promise<void> {
    const prefix = keyPrefix([kind]);
    const read = (after: string | undefined) =>
      table.queryIndex('gsi1', userIndex(user), {
        limit: PAGE,
        after,
        between: [prefix, keyAfter([kind])],
      });
    for await (const { sortKeys } of pages(read)) {
      const keys = sortKeys
        .map((sortKey) => sortKey.slice(prefix.length))
        .filter(isIncluded)
        .map(keyOf);
      const items = await table.getMany(entity, keys);
      await removeEach(
        keys.flatMap((key, index) => {
          const item = items[index];
          return item && item.addedAt <= removedAt ? [remove(entity, key, item._r)] : [];
        }),
      );
    }
  }

  async function purgeSettings(): Promise<void> {
    const ofOrganization = within === undefined ? await table.get(NotificationSettingsEntity, user) : undefined;
    if (ofOrganization && (ofOrganization.setAt ?? 0) <= removedAt)
      await removeEach([remove(NotificationSettingsEntity, user, ofOrganization._r)]);
    const read = (after: string | undefined) =>
      table.query(settingsOfDocuments, user, { prefix: settingsPrefix, limit: PAGE, after });
    for await (const { values } of pages(read)) {
      const purged = values.filter(({ documentKey, setAt }) => (setAt ?? 0) <= removedAt && isIncluded(documentKey));
      await removeEach(
        purged.map(({ documentKey, _r }) => remove(NotificationSettingsEntity, { ...user, documentKey }, _r)),
      );
    }
  }

  async function removeEach(ops: readonly WriteOp[]): Promise<void> {
    await inParallel(ops, PARALLEL, (op) => table.write([op]));
  }
}
