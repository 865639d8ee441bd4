import { inParallel } from '../shared/inParallel.ts';
import {
  NotificationSettingsEntity,
  settingsOfDocuments,
  settingsPrefix,
} from '../notifications/notificationSettings.ts';
import { type Entity, indexPartition } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { keyPrefix } from '../table/keys.ts';
import { remove, type Table, type WriteOp } from '../table/table.ts';
import { GroupMemberEntity } from '../directory/userGroups.ts';
import { ContactEntity, GrantEntity, userIndex } from '../directory/users.ts';

/** How many of a user's things are read at a time, and removed. */
const PAGE = 1_000;
const PARALLEL = 8;

/** Which of a user's belongings are to go. */
export interface Gone {
  /** Epoch ms: what was given or set later stays. */
  readonly until: number;
  /** Only on these folders and documents, by internal ids; everything in the organization when left out. */
  readonly within?: ReadonlySet<string> | undefined;
}

/**
 * Removes what a user was given and set in an organization up to a time: grants, places in contact lists and, unless only some folders and
 * documents are meant, in groups; notification settings. Each goes as it was read: what took its place meanwhile stays.
 */
export async function removeBelongings(
  table: Table,
  user: OrganizationScope & { readonly userId: string },
  { until, within }: Gone,
): Promise<void> {
  const goes = (internalId: string) => within === undefined || within.has(internalId);
  await Promise.all([
    removeGrants(),
    removeListed('contact', ContactEntity, (resource) => ({ ...user, resource })),
    within === undefined && removeListed('group', GroupMemberEntity, (group) => ({ ...user, groupKey: group })),
    removeSettings(),
  ]);

  async function removeGrants(): Promise<void> {
    await eachPage(
      (after) => table.query(GrantEntity, user, { prefix: ['GRANT'], limit: PAGE, after }),
      (grants) =>
        removeEach(
          table,
          grants
            .filter(({ internalId, grantedAt }) => grantedAt <= until && goes(internalId))
            .map((grant) => remove(GrantEntity, { ...user, ...grant }, grant._r)),
        ),
    );
  }

  async function removeListed<T extends { addedAt: number }, P, K>(
    kind: string,
    entity: Entity<T, P, K>,
    keyOf: (internalId: string) => P & K,
  ): Promise<void> {
    const prefix = keyPrefix([kind]);
    await eachPage(
      async (after) => {
        // No internal id has a tilde, which comes behind all that they have.
        const { positions, next } = await table.queryIndex('gsi1', indexPartition('tenant', userIndex(user)), {
          limit: PAGE,
          after,
          between: [prefix, `${prefix}~`],
        });
        return {
          values: positions.map((position) => (JSON.parse(position) as { gsi1sk: string }).gsi1sk.slice(prefix.length)),
          next,
        };
      },
      async (internalIds) => {
        const listed = internalIds.filter(goes);
        const found = await table.getMany(entity, listed.map(keyOf));
        await removeEach(
          table,
          found.flatMap((one, index) =>
            one && one.addedAt <= until ? [remove(entity, keyOf(listed[index] as string), one._r)] : [],
          ),
        );
      },
    );
  }

  async function removeSettings(): Promise<void> {
    const ofOrganization = within === undefined ? await table.get(NotificationSettingsEntity, user) : undefined;
    if (ofOrganization && (ofOrganization.setAt ?? 0) <= until)
      await removeEach(table, [remove(NotificationSettingsEntity, user, ofOrganization._r)]);
    await eachPage(
      (after) => table.query(settingsOfDocuments, user, { prefix: settingsPrefix, limit: PAGE, after }),
      (settings) =>
        removeEach(
          table,
          settings
            .filter(({ documentKey, setAt }) => (setAt ?? 0) <= until && goes(documentKey))
            .map(({ documentKey, _r }) => remove(NotificationSettingsEntity, { ...user, documentKey }, _r)),
        ),
    );
  }
}

/** Reads page by page, and does something with each before the next. */
async function eachPage<V>(
  read: (after: string | undefined) => Promise<{ readonly values: readonly V[]; readonly next: string | undefined }>,
  work: (values: readonly V[]) => Promise<void>,
): Promise<void> {
  let after: string | undefined;
  do {
    const page = await read(after);
    await work(page.values);
    after = page.next;
  } while (after !== undefined);
}

/** Carries out each by itself; one whose condition does not hold is left: somebody else removed or replaced what was read. */
async function removeEach(table: Table, removals: readonly WriteOp[]): Promise<void> {
  await inParallel(removals, PARALLEL, async (op) => void (await table.write([op])));
}
