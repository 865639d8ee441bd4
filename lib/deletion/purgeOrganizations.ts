import * as z from 'zod';
import { rootFolderId } from '../directory/rules/folders.ts';
import { inParallel } from '../shared/inParallel.ts';
import { DocumentEntity } from '../directory/documents.ts';
import type { Key, Stored } from '../table/entity.ts';
import { FolderDepartureEntity } from '../directory/folders/folderDepartures.ts';
import {
  FolderChangeEntity,
  FolderEntity,
  FolderEntryEntity,
  type OrganizationScope,
} from '../directory/folders/folders.ts';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { organizationJudgments } from '../memory/purgeJudgments.ts';
import type { QueryPage, Table } from '../table/table.ts';
import { GroupEntity, GroupMemberEntity } from '../directory/userGroups.ts';
import type { OrganizationRemoval } from './startPurge.ts';
import { removeContent } from './purgeDocuments.ts';
import { type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import { removeResource, resourceEntities } from './purgeResource.ts';

const Data = z.object({ organizationKey: z.string() }) satisfies z.ZodType<OrganizationRemoval>;

/** How long a step goes on. */
const STEP_MILLISECONDS = 2_000;
/** How many documents, folders or groups are listed at a time, and of folders and groups worked on. */
const LISTED = 100;
const PARALLEL = 8;

/** A part of what is removed with an organization. */
export interface OrganizationPart {
  /** What it reaches, besides what the parts of a document reach. */
  readonly entities: readonly { readonly type: string }[];
  /** Removes as much of it as there is time for; gives whether nothing is left. */
  remove(table: Table, scope: OrganizationScope, budget: PurgeBudget): Promise<boolean>;
}

const documents: OrganizationPart = {
  entities: [DocumentEntity],
  remove: (table, scope, budget) =>
    removeEach(table, budget, {
      list: () => table.query(DocumentEntity, scope, { limit: LISTED }),
      key: (document) => DocumentEntity.key({ ...scope, ...document }),
      removeBeneath: ({ internalId, documentId }) =>
        removeContent(table, { ...scope, documentKey: internalId, documentId, withOrganization: true }, budget),
    }),
};

const folders: OrganizationPart = {
  entities: [FolderEntity, FolderEntryEntity],
  async remove(table, scope, budget) {
    const removeEntries = (folder: string) =>
      purgePartition(table, FolderEntryEntity.partition({ ...scope, folderKey: folder }), budget);
    const [ofRoot, ofOthers] = await Promise.all([
      removeEntries(rootFolderId),
      removeEach(table, budget, {
        list: () => table.query(FolderEntity, scope, { limit: LISTED }),
        key: (folder) => FolderEntity.key({ ...scope, ...folder }),
        removeBeneath: async ({ internalId }) => {
          const [entries, resource] = await Promise.all([
            removeEntries(internalId),
            removeResource(table, scope, internalId, budget),
          ]);
          return entries && resource;
        },
      }),
    ]);
    return ofRoot && ofOthers;
  },
};

const groups: OrganizationPart = {
  entities: [GroupEntity, GroupMemberEntity],
  remove: (table, scope, budget) =>
    removeEach(table, budget, {
      list: () => table.query(GroupEntity, scope, { limit: LISTED }),
      key: (group) => GroupEntity.key({ ...scope, ...group }),
      removeBeneath: ({ internalId }) =>
        purgePartition(table, GroupMemberEntity.partition({ ...scope, groupKey: internalId }), budget),
    }),
};

const itself: OrganizationPart = {
  entities: resourceEntities,
  remove: (table, scope, budget) => removeResource(table, scope, scope.organizationKey, budget),
};

const folderChanges: OrganizationPart = {
  entities: [FolderChangeEntity, FolderDepartureEntity],
  async remove(table, scope, budget) {
    const [changes, departures] = await Promise.all(
      [FolderChangeEntity, FolderDepartureEntity].map((entity) =>
        purgePartition(table, entity.partition(scope), budget),
      ),
    );
    return changes === true && departures === true;
  },
};

/** Everything that is removed with an organization. What is defined with `ownedBy: 'organization'` or `'folder'` belongs to one of them. */
export const organizationParts: readonly OrganizationPart[] = [
  documents,
  folders,
  groups,
  itself,
  folderChanges,
  organizationJudgments,
];

interface Each<T> {
  /** The first of what is left. */
  readonly list: () => Promise<QueryPage<T>>;
  readonly key: (one: Stored<T>) => Key;
  /** Removes what is found by one; gives whether nothing is left. */
  readonly removeBeneath: (one: Stored<T>) => Promise<boolean>;
}

/** Removes what is listed, each when nothing is left that is found by it; so the listing itself says how far it got. */
async function removeEach<T>(
  table: Table,
  { clock, until }: PurgeBudget,
  { list, key, removeBeneath }: Each<T>,
): Promise<boolean> {
  do {
    const { values, next } = await list();
    const bare: Key[] = [];
    await inParallel(values, PARALLEL, async (one) => {
      if (clock() < until && (await removeBeneath(one))) bare.push(key(one));
    });
    await table.removeKeys(bare);
    if (next === undefined && bare.length === values.length) return true;
  } while (clock() < until);
  return false;
}

/** A step of a job that `removeOrganizationJob` began. Nothing is removed before nobody reads or writes it any more. */
export async function removeOrganizationStep(
  table: Table,
  { tenant, createdAt, data }: Pick<StoredJob, 'tenant' | 'createdAt' | 'data'>,
  clock: () => number,
): Promise<StepResult> {
  const { organizationKey } = Data.parse(JSON.parse(data));
  const begin = createdAt + READS_SETTLED_MS;
  if (clock() < begin) return { progress: {}, notBefore: begin };
  const budget = { clock, until: clock() + STEP_MILLISECONDS };
  const complete = await Promise.all(
    organizationParts.map((part) => part.remove(table, { tenant, organizationKey }, budget)),
  );
  // What is left says itself where to go on.
  return complete.includes(false) ? { progress: {} } : 'done';
}
