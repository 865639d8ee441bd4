import * as z from 'zod';
import { type AccessType, accessTypes } from '../../app/rules/access.ts';
import { distinct } from '../../shared/collections.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { ItemResult } from '../../shared/results.ts';
import { defineEntity, type Stored } from '../../table/entity.ts';
import { type ItemPage, readAll } from '../../table/pages.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { storeCapability } from '../../table/storeCapability.ts';
import { insert, insertOrReplace, type Table } from '../../table/table.ts';
import { type Decision, writeEach } from '../../table/writeEach.ts';
import { throttled } from '../../table/writeErrors.ts';
import { organizationPartition, type OrganizationScope } from '../organizationScope.ts';
import {
  canBeFolder,
  computePosition,
  deepestFolder,
  depthOf,
  type FolderChange,
  resolveFolder,
  rootFolderId,
  splitIntoWaves,
} from '../rules/folders.ts';

const FolderName = z.object({ folderId: z.string(), internalId: z.string(), movedAt: z.number().optional() });

const Schema = z.object({
  folderId: z.string(),
  internalId: z.string(),
  folderName: z.string().optional(),
  ancestors: z.array(FolderName),
  /** The effective access type: the folder's own, or the inherited one. */
  accessType: z.enum(accessTypes),
  accessFrom: z.string().default(rootFolderId),
  inheritAccessFromParent: z.boolean(),
  /** Epoch ms. Each entry of `ancestors` has the time of its own last move. */
  movedAt: z.number().optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Folder = z.output<typeof Schema>;

export const FolderEntity = defineEntity({
  type: 'Folder',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: "A folder under the customer's id, with its ancestors and effective access type",
  schema: Schema,
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'FOLDERS'),
  sk: (key: { folderId: string }) => [key.folderId],
});

/** Has the customer's id. Readers skip an entry that differs from the stored document or folder. */
export const FolderEntryEntity = defineEntity({
  type: 'FolderEntry',
  version: 1,
  scope: 'tenant',
  ownedBy: 'folder',
  purpose: 'A document or folder directly in a folder (or at the root)',
  schema: z.object({ kind: z.enum(['folder', 'document']), id: z.string(), internalId: z.string() }),
  pk: (of: { tenant: string; organizationKey: string; folderKey: string }) =>
    organizationPartition(of, 'FOLDER', of.folderKey),
  sk: (key: { kind: 'folder' | 'document'; id: string }) => [key.kind, key.id],
});

const ChangeSchema = z.object({
  folderKey: z.string(),
  folderId: z.string(),
  kind: z.enum(['changed', 'removed']),
  jobId: z.string(),
  at: z.number(),
});
export type StoredFolderChange = Stored<z.output<typeof ChangeSchema>>;

/**
 * A moved, deleted or otherwise changed folder, written in the transaction of the change. Readers combine stored
 * folders with it until a job has changed those below.
 */
export const FolderChangeEntity = defineEntity({
  type: 'FolderChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A change of a folder while a job applies it to the folders and documents below',
  schema: ChangeSchema,
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'FOLDER_CHANGES'),
  sk: (key: { folderKey: string }) => [key.folderKey],
});
export interface NewFolder {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  readonly parentFolderId?: string | undefined;
  readonly accessType?: AccessType | undefined;
}

/**
 * `current` is what requests see. If only `stored` is defined, a folder above was deleted, and a new item may replace
 * it.
 */
export interface CurrentAndStored<T> {
  readonly current: Stored<T> | undefined;
  readonly stored: Stored<T> | undefined;
}

export async function folderChangesOf(table: Table, scope: OrganizationScope): Promise<StoredFolderChange[]> {
  return readAll((after) => table.query(FolderChangeEntity, scope, { limit: CHANGES_PER_PAGE, after }));
}

const EXISTS = 'Folder already exists.';
const PARENT_ABSENT = 'Parent folder does not exist.';
const TOO_DEEP = 'Folder would be too deep.';

const CHANGES_PER_PAGE = 1_000;
/** Of further changes, a reader reads only those of its folders and of the folders above, by their keys. */
const MAX_CHANGES_READ = 100;
const READING_TRIES = 5;

export function folderNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Folder does not exist');
}

export function parentFolderNotFound(): ApiError {
  return new ApiError('NOT_FOUND', 'Parent folder does not exist');
}

export class FolderReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async getByIds(scope: OrganizationScope, folderIds: readonly string[]): Promise<(Stored<Folder> | undefined)[]> {
    return (await this.find(scope, folderIds)).map(({ current }) => current);
  }

  async get(scope: OrganizationScope, folderId: string): Promise<Stored<Folder> | undefined> {
    return scope.hasFolderChanges
      ? (await this.getByIds(scope, [folderId]))[0]
      : this.#table.get(FolderEntity, { ...scope, folderId });
  }

  async require(scope: OrganizationScope, folderId: string): Promise<Stored<Folder>> {
    const folder = await this.get(scope, folderId);
    if (!folder) throw folderNotFound();
    return folder;
  }

  /**
   * In the order of the ids, 100 per BatchGet. While a job applies changes of folders, also reads these changes, up to
   * `MAX_CHANGES_READ`. Throws a throttling error if requests change the folders during every try.
   */
  async find(scope: OrganizationScope, folderIds: readonly string[]): Promise<CurrentAndStored<Folder>[]> {
    const read = () =>
      this.#table.getMany(
        FolderEntity,
        folderIds.map((folderId) => ({ ...scope, folderId })),
      );
    if (!scope.hasFolderChanges || folderIds.length === 0)
      return (await read()).map((stored) => ({ current: stored, stored }));
    for (let attempt = 0; attempt < READING_TRIES; attempt++) {
      const [changes, folders] = await Promise.all([
        this.#table.query(FolderChangeEntity, scope, { limit: MAX_CHANGES_READ }),
        read(),
      ]);
      const current = await this.#resolved(scope, folders, changes);
      if (current) return folders.map((stored, index) => ({ current: current[index], stored }));
    }
    throw throttled('Other requests kept changing the folders while they were read');
  }

  async #resolved(
    scope: OrganizationScope,
    folders: readonly (Stored<Folder> | undefined)[],
    firstChanges: ItemPage<StoredFolderChange>,
  ): Promise<(Stored<Folder> | undefined)[] | undefined> {
    const changes = new Map<string, FolderChange>();
    const addChanges = (stored: readonly StoredFolderChange[]) => {
      for (const change of stored) changes.set(change.folderKey, change);
    };
    addChanges(firstChanges.values);
    const read = new Map<string, Stored<Folder> | undefined>();
    let unchecked = folders;
    for (;;) {
      if (firstChanges.next !== undefined) addChanges(await this.#changesOf(scope, unchecked));
      const resolutions = folders.map((folder) => (folder ? resolveFolder(folder, { changes, read }) : 'deleted'));
      if (resolutions.includes('inconsistent')) return undefined;
      const needed = resolutions.flatMap((resolution) =>
        typeof resolution === 'object' && 'needs' in resolution ? [resolution.needs] : [],
      );
      if (needed.length === 0)
        return resolutions.map((resolution) =>
          typeof resolution === 'object' && 'folder' in resolution ? resolution.folder : undefined,
        );
      const changed = await this.#table.getMany(
        FolderEntity,
        needed.map(({ folderId }) => ({ ...scope, folderId })),
      );
      needed.forEach(({ internalId }, index) =>
        read.set(internalId, changed[index]?.internalId === internalId ? changed[index] : undefined),
      );
      unchecked = changed;
    }
  }

  async #changesOf(
    scope: OrganizationScope,
    folders: readonly (Stored<Folder> | undefined)[],
  ): Promise<StoredFolderChange[]> {
    const names = folders.flatMap((folder) => (folder ? [folder, ...folder.ancestors] : []));
    const changes = await this.#table.getMany(
      FolderChangeEntity,
      distinct(names.map(({ internalId }) => internalId)).map((folderKey) => ({ ...scope, folderKey })),
    );
    return changes.filter((change) => change !== undefined);
  }
}

export class FolderWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Ids must be distinct. Parents can come after their subfolders. A folder that cannot be added fails in its own
   * result only.
   */
  async add(scope: OrganizationScope, folders: readonly NewFolder[], now: number): Promise<ItemResult[]> {
    const results = new Map<NewFolder, ItemResult>();
    const { waves, circular } = splitIntoWaves(folders);
    for (const wave of waves) {
      const added = await writeEach<NewFolder, AddState, ItemResult>({
        table: this.#table,
        items: wave,
        read: (items) => this.#readWithParents(scope, items),
        decide: (folder, state) => decideAddition(scope, folder, state, now),
        conflicted: (folder) => failedResult(folder, 'Folder is being changed by another request.'),
      });
      wave.forEach((folder, index) => results.set(folder, added[index] as ItemResult));
    }
    const others = await this.#addCircular(scope, circular, now);
    circular.forEach((folder, index) => results.set(folder, others[index] as ItemResult));
    return folders.map((folder) => results.get(folder) as ItemResult);
  }

  /** A folder that exists keeps its stored parent, so it is not part of a circle. */
  async #addCircular(scope: OrganizationScope, folders: readonly NewFolder[], now: number): Promise<ItemResult[]> {
    if (folders.length === 0) return [];
    const stored = await new FolderReader(this.#table).getByIds(
      scope,
      folders.map(({ folderId }) => folderId),
    );
    const missing = folders.filter((_folder, index) => !stored[index]);
    if (missing.length === folders.length)
      return folders.map((folder) => failedResult(folder, 'Parent folders form a circle.'));
    const added = (await this.add(scope, missing, now)).values();
    return folders.map((folder, index) =>
      stored[index] ? failedResult(folder, EXISTS) : (added.next().value as ItemResult),
    );
  }

  /**
   * With `create`, creates a missing folder, also if another request deletes it meanwhile. Throws NOT_FOUND for an
   * unknown folder or parent, and FAILED_PRECONDITION if the folder would be too deep.
   */
  async ensure(
    scope: OrganizationScope,
    folderId: string,
    create: boolean,
    now: number,
    parentFolderId?: string,
  ): Promise<Folder> {
    const folders = new FolderReader(this.#table);
    if (!create || !canBeFolder(folderId, parentFolderId)) return folders.require(scope, folderId);
    return retryOnConflict(async () => {
      const [added] = await this.add(scope, [{ folderId, parentFolderId }], now);
      if (added?.message === PARENT_ABSENT) throw parentFolderNotFound();
      if (added?.message === TOO_DEEP) throw new ApiError('FAILED_PRECONDITION', 'The folder would be too deep');
      return (await folders.get(scope, folderId)) ?? 'conflict';
    });
  }

  async #readWithParents(scope: OrganizationScope, folders: readonly NewFolder[]): Promise<AddState[]> {
    const parentIds = folders.flatMap((folder) => parentIdOf(folder) ?? []);
    const folderIds = folders.map(({ folderId }) => folderId);
    const states = await new FolderReader(this.#table).find(scope, [...folderIds, ...parentIds]);
    const parents = new Map(
      parentIds.map((folderId, index) => [folderId, states[folders.length + index]?.current] as const),
    );
    return folders.map((folder, index) => ({
      folder: states[index] as CurrentAndStored<Folder>,
      parent: parents.get(parentIdOf(folder) ?? ''),
    }));
  }
}

interface AddState {
  readonly folder: CurrentAndStored<Folder>;
  readonly parent: Folder | undefined;
}

function parentIdOf({ parentFolderId }: NewFolder): string | undefined {
  return parentFolderId === rootFolderId ? undefined : parentFolderId;
}

function decideAddition(
  scope: OrganizationScope,
  folder: NewFolder,
  { folder: existing, parent }: AddState,
  now: number,
): Decision<ItemResult> {
  const refuse = (message: string) => ({ result: failedResult(folder, message), ops: [] });
  if (folder.folderId === rootFolderId) return refuse('The id root is reserved.');
  if (existing.current) return refuse(EXISTS);
  if (parentIdOf(folder) !== undefined && !parent) return refuse(PARENT_ABSENT);
  const internalId = newId('fld', now);
  const { folderId, folderName, accessType } = folder;
  const position = computePosition(parent, { internalId, accessType });
  if (depthOf(position) > deepestFolder) return refuse(TOO_DEEP);
  const added = {
    ...scope,
    folderId,
    folderName,
    internalId,
    ...position,
    createdAt: now,
    lastUpdated: now,
  };
  return {
    result: { success: true, id: folderId, message: 'Folder added.' },
    ops: [
      insertOrReplace(FolderEntity, added, existing.stored, now),
      insert(FolderEntryEntity, {
        ...scope,
        folderKey: parent?.internalId ?? rootFolderId,
        kind: 'folder',
        id: folderId,
        internalId,
      }),
    ],
  };
}

function failedResult({ folderId }: NewFolder, message: string): ItemResult {
  return { success: false, id: folderId, message };
}

export const readFolders = /* @__PURE__ */ storeCapability(FolderReader, ['GetItem', 'BatchGetItem', 'Query']);

export const writeFolders = /* @__PURE__ */ storeCapability(FolderWriter, [readFolders, 'PutItem']);
