import { type PurgeHook, purgeItems, runPurgeHooks } from '../content/documentPurge.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { FolderRevocationEntity } from '../directory/folders/folderRevocations.ts';
import { FolderChangeEntity, folderChangesOf, FolderEntity, FolderEntryEntity } from '../directory/folders/folders.ts';
import { type FolderVisitor, walkFolders, walkFrom } from '../directory/folders/folderWalk.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { rootFolderId } from '../directory/rules/folders.ts';
import { GroupEntity, GroupMemberEntity } from '../directory/userGroups.ts';
import { InvitationEntity } from '../invitations/entities.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { LiveChannelEntity } from '../live/entities.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import { arePurged, type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import type { QueryPage, Table } from '../table/table.ts';
import { purgesOf } from './documentPurges.ts';
import { purgeDocument } from './purgeDocuments.ts';
import { purgeFolders as purgeFolderContent } from './purgeFolders.ts';
import { purgeResource, resourceEntities } from './purgeResource.ts';
import { OrganizationPurge } from './startPurge.ts';

const STEP_MILLISECONDS = 2_000;
const PAGE = 100;
const PARALLEL = 8;

const purgeDocuments: PurgeHook<OrganizationScope> = {
  entities: [DocumentEntity],
  purge: (table, scope, budget) =>
    purgeEach(table, budget, {
      list: () => table.query(DocumentEntity, scope, { limit: PAGE }),
      key: (document) => DocumentEntity.key({ ...scope, ...document }),
      purgeContent: ({ internalId, documentId }) =>
        purgeDocument(table, { ...scope, documentKey: internalId, documentId, withOrganization: true }, budget),
    }),
};

const purgeFolders: PurgeHook<OrganizationScope> = {
  entities: [FolderEntity, FolderEntryEntity],
  purge(table, scope, budget) {
    const purgeEntries = (folderKey: string) =>
      purgePartition(table, FolderEntryEntity.partition({ ...scope, folderKey }), budget);
    return arePurged([
      purgeEntries(rootFolderId),
      purgeEach(table, budget, {
        list: () => table.query(FolderEntity, scope, { limit: PAGE }),
        key: (folder) => FolderEntity.key({ ...scope, ...folder }),
        purgeContent: ({ internalId }) =>
          arePurged([purgeEntries(internalId), purgeResource(table, scope, internalId, budget)]),
      }),
    ]);
  },
};

const purgeGroups: PurgeHook<OrganizationScope> = {
  entities: [GroupEntity, GroupMemberEntity],
  purge: (table, scope, budget) =>
    purgeEach(table, budget, {
      list: () => table.query(GroupEntity, scope, { limit: PAGE }),
      key: (group) => GroupEntity.key({ ...scope, ...group }),
      purgeContent: ({ internalId }) =>
        purgePartition(table, GroupMemberEntity.partition({ ...scope, groupKey: internalId }), budget),
    }),
};

const purgeAccess: PurgeHook<OrganizationScope> = {
  entities: resourceEntities,
  purge: (table, scope, budget) => purgeResource(table, scope, scope.organizationKey, budget),
};

const purgeFolderChanges: PurgeHook<OrganizationScope> = {
  entities: [FolderChangeEntity, FolderRevocationEntity],
  async purge(table, scope, budget) {
    if (!(await purgeDeletedFolders(table, scope, budget))) return false;
    const partitions = [FolderChangeEntity, FolderRevocationEntity].map((entity) => entity.partition(scope));
    return arePurged(partitions.map((partition) => purgePartition(table, partition, budget)));
  },
};

/**
 * Purges the content of folders that were deleted before their organization. Only their folder changes refer to it, so
 * these go afterwards.
 */
async function purgeDeletedFolders(
  table: Table,
  scope: OrganizationScope,
  { clock, deadline }: PurgeBudget,
): Promise<boolean> {
  const folderContent = purgeFolderContent({ table, scope, clock, deadline, missed: false });
  let hasProgress = false;
  const visitor: FolderVisitor = {
    visit(folder, entries) {
      hasProgress ||= entries.some(({ kind }) => kind === 'document');
      return folderContent.visit(folder, entries);
    },
    async afterFolder(folder, parent) {
      await folderContent.afterFolder?.(folder, parent);
      hasProgress ||= parent !== undefined;
    },
  };
  const budget = { page: PAGE, pages: Infinity, hasTime: () => !hasProgress || clock() < deadline };
  for (const { kind, folderKey, folderId } of await folderChangesOf(table, scope)) {
    if (kind !== 'removed') continue;
    const stoppedAt = await walkFolders(
      table,
      scope,
      walkFrom({ internalId: folderKey, id: folderId }),
      visitor,
      budget,
    );
    if (stoppedAt) return false;
  }
  return true;
}

/** Each entity with `ownedBy: 'organization'` or `'folder'` belongs to one of these hooks. */
export const organizationPurges: readonly PurgeHook<OrganizationScope>[] = [
  purgeDocuments,
  purgeFolders,
  purgeGroups,
  purgeAccess,
  purgeFolderChanges,
  ...purgesOf(contentKinds).flatMap(({ organization }) => (organization === 'none' ? [] : [organization])),
  purgeItems<OrganizationScope>(LiveChannelEntity, InvitationEntity),
];

interface PurgedListing<T> {
  readonly list: () => Promise<QueryPage<T>>;
  readonly key: (item: Stored<T>) => Key;
  readonly purgeContent: (item: Stored<T>) => Promise<boolean>;
}

/**
 * Returns true when nothing remains. Purges the first 8 items even after the deadline, so that slow calls make
 * progress.
 */
async function purgeEach<T>(
  table: Table,
  { clock, deadline }: PurgeBudget,
  { list, key, purgeContent }: PurgedListing<T>,
): Promise<boolean> {
  let begun = 0;
  do {
    const { values, next } = await list();
    const empty: Key[] = [];
    await inParallel(values, PARALLEL, async (item) => {
      if (begun >= PARALLEL && clock() >= deadline) return;
      begun += 1;
      if (await purgeContent(item)) empty.push(key(item));
    });
    await table.removeKeys(empty);
    if (next === undefined && empty.length === values.length) return true;
  } while (clock() < deadline);
  return false;
}

export async function purgeOrganizationStep(
  table: Table,
  { tenant, createdAt, data }: Pick<StoredJob, 'tenant' | 'createdAt' | 'data'>,
  clock: () => number,
): Promise<StepResult> {
  const { organizationKey } = OrganizationPurge.parse(JSON.parse(data));
  const startsAt = createdAt + REQUESTS_ENDED_MS;
  if (clock() < startsAt) return { progress: {}, notBefore: startsAt };
  const budget = { clock, deadline: clock() + STEP_MILLISECONDS };
  const complete = await runPurgeHooks(organizationPurges, table, { tenant, organizationKey }, budget);
  return complete ? 'done' : { progress: {} };
}
