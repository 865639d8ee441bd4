import { type Capability, combine } from '../../app/capability.ts';
import type { AccessType } from '../../app/rules/access.ts';
import { notifyJobs, startJob } from '../../jobs/jobStore.ts';
import type { Log } from '../../observability/log.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { inSlices } from '../../shared/inSlices.ts';
import type { ItemResult } from '../../shared/results.ts';
import type { Stored } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { insert, remove, replace, type Table, upsert, type WriteOp } from '../../table/table.ts';
import { writeEach } from '../../table/writeEach.ts';
import type { QueueSender } from '../../workers/sender.ts';
import * as sendTo from '../../workers/sendTo.ts';
import { OrganizationLock } from '../organizationLock.ts';
import { findOrganization, type Organization } from '../organizations.ts';
import { type OrganizationScope, organizationScope } from '../organizationScope.ts';
import { folderChain } from '../rules/access.ts';
import {
  computePosition,
  deepestFolder,
  depthOf,
  isSamePosition,
  isWithin,
  ownAccess,
  parentOf,
  rootFolderId,
} from '../rules/folders.ts';
import type { FolderJobData } from './changeFoldersStep.ts';
import { refuseCrossings } from './folderRevocations.ts';
import {
  type Folder,
  FolderChangeEntity,
  FolderEntity,
  FolderEntryEntity,
  FolderReader,
  readFolders,
} from './folders.ts';

/** A request reads all folders below one that moves to a deeper level, to check their depth. */
const MAX_FOLDERS_BELOW = 1_000;
const PARALLEL = 16;
const SWEPT_AFTER = 60_000;
const BUSY = 'Folder is being changed by another request.';

export interface FolderUpdate {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  /** The new parent. Null moves the folder to the root. Undefined leaves it in its parent. */
  readonly parentFolderId?: string | null | undefined;
  readonly accessType?: AccessType | undefined;
}

interface AccessChange {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  /** If undefined, the folder inherits from its parent. */
  readonly accessType: AccessType | undefined;
}

interface AccessResults<I, R> {
  succeeded(item: I): R;
  failed(item: I, message: string): R;
}

export interface FolderAccessResult {
  readonly success: boolean;
  /** The folder's own access type. Null if it inherits, or if the change failed. */
  readonly accessType: AccessType | null;
  readonly inheritFromParent?: boolean;
  readonly message: string;
}

/** `now` is epoch ms. */
export interface FolderRequest {
  readonly tenant: string;
  readonly organization: Stored<Organization>;
  readonly now: number;
  readonly log: Log;
}

/** Readers combine stored folders with recorded changes, so they see a change at once. */
export class FolderChanger {
  readonly #table: Table;
  readonly #folders: FolderReader;
  readonly #queue: QueueSender;

  constructor(table: Table, queue: QueueSender) {
    this.#table = table;
    this.#folders = new FolderReader(table);
    this.#queue = queue;
  }

  /**
   * Ids must be distinct. Moves folders last, in the order of the request. A folder that cannot be changed fails in its
   * own result only, but a move across the boundary of a folder that users are being removed from throws ABORTED.
   * Changes before an error stay.
   */
  async update(request: FolderRequest, updates: readonly FolderUpdate[]): Promise<ItemResult[]> {
    const { tenant, organization, now } = request;
    const stays = updates.filter(({ parentFolderId }) => parentFolderId === undefined);
    const renames = stays.filter(({ accessType }) => accessType === undefined);
    const accessChanges = stays.flatMap(({ accessType, ...update }) =>
      accessType === undefined ? [] : [{ ...update, accessType }],
    );
    const renamed = await this.#rename(organizationScope(tenant, organization), renames, now);
    const results = new Map(renames.map(({ folderId }, index) => [folderId, renamed[index] as ItemResult]));
    await this.#changeTree(request, async (change) => {
      const changed = await this.#writeAccess(change, accessChanges, request, {
        succeeded: updatedResult,
        failed: refusedResult,
      });
      for (const [index, { folderId }] of accessChanges.entries()) results.set(folderId, changed[index] as ItemResult);
      // A move can change the ancestors of the next folder's new parent.
      for (const update of updates)
        if (update.parentFolderId !== undefined) results.set(update.folderId, await this.#move(change, update));
    });
    return updates.map(({ folderId }) => results.get(folderId) as ItemResult);
  }

  /** If `accessType` is undefined, the folders inherit from their parents. Ids must be distinct. */
  async updateAccess(
    request: FolderRequest,
    folderIds: readonly string[],
    accessType: AccessType | undefined,
  ): Promise<FolderAccessResult[]> {
    const access = accessType === undefined ? { accessType: null, inheritFromParent: true } : { accessType };
    const items = folderIds.map((folderId) => ({ folderId, accessType }));
    return this.#changeTree(request, async (change) =>
      this.#writeAccess<AccessChange, FolderAccessResult>(change, items, request, {
        succeeded: () => ({ success: true, ...access, message: 'Folder access type updated.' }),
        failed: (_item, message) => ({ success: false, accessType: null, message }),
      }),
    );
  }

  async #writeAccess<I extends AccessChange, R>(
    change: TreeChange,
    items: readonly I[],
    { tenant, organization, now }: FolderRequest,
    results: AccessResults<I, R>,
  ): Promise<R[]> {
    const scope = organizationScope(tenant, organization);
    const wanted = new Map(items.map(({ folderId, accessType }) => [folderId, accessType]));
    const positionOf = ({ folder, parent }: WithParent) =>
      computePosition(parent, { internalId: folder.internalId, accessType: wanted.get(folder.folderId) });
    return writeEach<I, WithParent | undefined, R>({
      table: this.#table,
      items,
      read: async (unread) => {
        const ids = unread.map(({ folderId }) => folderId);
        const states = await this.#withParents(scope, ids);
        if (states.some((state) => state && !isSamePosition(positionOf(state), state.folder))) await change.start();
        return states;
      },
      decide: (item, state) => {
        if (!state) return { result: results.failed(item, 'Folder does not exist.'), ops: [] };
        const result = results.succeeded(item);
        const position = positionOf(state);
        if (isSamePosition(position, state.folder)) return { result, ops: renameOps(scope, state.folder, item, now) };
        const { folderName = state.folder.folderName } = item;
        const next = { ...state.folder, ...position, folderName, lastUpdated: now };
        return {
          result,
          ops: [replace(FolderEntity, { ...scope, ...next }, state.folder._r), change.record(state.folder, 'changed')],
        };
      },
      conflicted: (item) => results.failed(item, BUSY),
    });
  }

  /** A job later purges the content. */
  async delete(request: FolderRequest, folderId: string): Promise<void> {
    await this.#changeTree(request, (change) =>
      retryOnConflict(async () => {
        const scope = await change.scope();
        const [folder] = await this.#folders.getByIds(scope, [folderId]);
        if (!folder) throw new ApiError('NOT_FOUND', 'Folder not found.');
        return change.write([
          remove(FolderEntity, { ...scope, folderId }, folder._r),
          removeEntry(scope, folder),
          change.record(folder, 'removed'),
        ]);
      }),
    );
  }

  /** Notifies the job after an error too, because changes before the error are stored and need the job. */
  async #changeTree<T>(request: FolderRequest, work: (change: TreeChange) => Promise<T>): Promise<T> {
    const change = new TreeChange(this.#table, request);
    try {
      return await work(change);
    } finally {
      await change.notify(this.#queue);
    }
  }

  async #rename(scope: OrganizationScope, renames: readonly FolderUpdate[], now: number): Promise<ItemResult[]> {
    return writeEach<FolderUpdate, Stored<Folder> | undefined, ItemResult>({
      table: this.#table,
      items: renames,
      read: (items) =>
        this.#folders.getByIds(
          scope,
          items.map(({ folderId }) => folderId),
        ),
      decide: (update, folder) =>
        folder
          ? { result: updatedResult(update), ops: renameOps(scope, folder, update, now) }
          : { result: refusedResult(update, 'Folder does not exist.'), ops: [] },
      conflicted: (update) => refusedResult(update, BUSY),
    });
  }

  async #move(change: TreeChange, update: FolderUpdate): Promise<ItemResult> {
    const isToRoot = update.parentFolderId === null || update.parentFolderId === rootFolderId;
    const parentId = isToRoot ? undefined : (update.parentFolderId ?? undefined);
    return retryOnConflict(async () => {
      const scope = await change.scope();
      const [folder, parent] = await this.#folders.getByIds(scope, [
        update.folderId,
        ...(parentId === undefined ? [] : [parentId]),
      ]);
      if (!folder) return refusedResult(update, 'Folder does not exist.');
      if (parentId !== undefined && !parent) return refusedResult(update, 'Parent folder does not exist.');
      const position = computePosition(parent, {
        ...ownAccess(folder),
        ...(update.accessType && { accessType: update.accessType }),
      });
      if (parentOf(folder) === (parent?.internalId ?? rootFolderId)) {
        const isSameAccess = update.accessType === undefined || isSamePosition(position, folder);
        if (isSameAccess)
          return this.#table.tryWrite(renameOps(scope, folder, update, change.now), updatedResult(update));
        const next = { ...folder, ...position, folderName: update.folderName ?? folder.folderName };
        const outcome = await change.write([
          replace(FolderEntity, { ...scope, ...next, lastUpdated: change.now }, folder._r),
          change.record(folder, 'changed'),
        ]);
        return outcome === 'done' ? updatedResult(update) : 'conflict';
      }
      if (parent && isWithin(parent, folder.internalId))
        return refusedResult(update, 'Folder cannot be moved into itself.');
      const tooDeep = await this.#refuseDepth(scope, folder, depthOf(position));
      if (tooDeep) return refusedResult(update, tooDeep);
      const { folderId, internalId } = folder;
      const moved = {
        ...folder,
        ...position,
        folderName: update.folderName ?? folder.folderName,
        movedAt: change.now,
        lastUpdated: change.now,
      };
      const crossing = { internalId, from: folderChain(folder).slice(1), to: folderChain(moved).slice(1) };
      await refuseCrossings(this.#table, scope, [crossing], change.now);
      const outcome = await change.write([
        replace(FolderEntity, { ...scope, ...moved }, folder._r),
        removeEntry(scope, folder),
        insert(FolderEntryEntity, { ...scope, folderKey: parentOf(moved), kind: 'folder', id: folderId, internalId }),
        change.record(folder, 'changed'),
      ]);
      return outcome === 'done' ? updatedResult(update) : 'conflict';
    });
  }

  async #refuseDepth(scope: OrganizationScope, folder: Folder, depth: number): Promise<string | undefined> {
    if (depth > deepestFolder) return 'Folder would be too deep.';
    if (depth <= depthOf(folder)) return undefined;
    let level: readonly string[] = [folder.internalId];
    let room = MAX_FOLDERS_BELOW;
    for (let levelDepth = depth; level.length > 0; levelDepth++) {
      if (levelDepth > deepestFolder) return 'A folder below this folder would be too deep.';
      level = (
        await inSlices(level, PARALLEL, async (folderKeys) =>
          room < 0 ? [] : Promise.all(folderKeys.map((folderKey) => this.#subfolders(scope, folderKey, room + 1))),
        )
      ).flat();
      room -= level.length;
      if (room < 0) return `There are more than ${MAX_FOLDERS_BELOW} folders below the folder. Move them in parts.`;
    }
    return undefined;
  }

  async #subfolders(scope: OrganizationScope, folderKey: string, limit: number): Promise<string[]> {
    const range = { prefix: ['folder'], limit };
    const { values } = await this.#table.query(FolderEntryEntity, { ...scope, folderKey }, range);
    return values.map(({ internalId }) => internalId);
  }

  async #withParents(scope: OrganizationScope, folderIds: readonly string[]): Promise<(WithParent | undefined)[]> {
    const folders = await this.#folders.getByIds(scope, folderIds);
    const parentIds = folders.flatMap((folder) => folder?.ancestors.at(-1)?.folderId ?? []);
    const parents = new Map(
      (await this.#folders.getByIds(scope, parentIds)).map((parent) => [parent?.internalId, parent]),
    );
    return folders.map((folder) => {
      if (!folder) return undefined;
      const parent = parents.get(parentOf(folder));
      return parent || parentOf(folder) === rootFolderId ? { folder, parent } : undefined;
    });
  }
}

interface WithParent {
  readonly folder: Stored<Folder>;
  readonly parent: Stored<Folder> | undefined;
}

/**
 * The first change also stores and counts the job. Moves and deletions write the organization with an optimistic lock.
 * Of two concurrent moves, one conflicts and reads the tree again, so moves cannot form a circle.
 */
class TreeChange {
  readonly now: number;
  readonly #request: FolderRequest;
  readonly #lock: OrganizationLock;
  readonly #jobId: string;
  #isStarted = false;

  constructor(table: Table, request: FolderRequest) {
    this.now = request.now;
    this.#request = request;
    this.#lock = new OrganizationLock(table, request.tenant, request.organization);
    this.#jobId = newId('job', request.now);
  }

  async scope(): Promise<OrganizationScope> {
    return this.#lock.scope();
  }

  /** Starts the job before changes of access types, whose transactions do not write the organization. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    await retryOnConflict(async () => {
      await this.scope();
      return this.write([]);
    });
  }

  async write(ops: readonly WriteOp[]): Promise<'done' | 'conflict'> {
    const data: FolderJobData = this.#lock.ids;
    const job = { jobId: this.#jobId, kind: 'changeFolders', data, dueAt: this.now + SWEPT_AFTER } as const;
    const outcome = await this.#lock.write('folderChanges', this.#isStarted ? 0 : 1, [
      ...(this.#isStarted ? [] : [startJob(this.#request.tenant, job, this.now)]),
      ...ops,
    ]);
    if (outcome === 'done') this.#isStarted = true;
    return outcome;
  }

  /** Kept until the job has rewritten or purged everything below the folder. */
  record({ folderId, internalId }: Folder, kind: 'changed' | 'removed'): WriteOp {
    const { tenant } = this.#request;
    const { organizationKey } = this.#lock.ids;
    const change = { folderKey: internalId, folderId, kind, jobId: this.#jobId, at: this.now };
    // A later change of the folder replaces this record. The revisions differ, so this job does not remove the later
    // record.
    return upsert(FolderChangeEntity, { tenant, organizationKey, ...change }, this.now);
  }

  async notify(queue: QueueSender): Promise<void> {
    const { tenant, log } = this.#request;
    if (this.#isStarted) await notifyJobs(queue, [{ tenant, jobId: this.#jobId }], log);
  }
}

function removeEntry(scope: OrganizationScope, folder: Folder): WriteOp {
  return remove(FolderEntryEntity, { ...scope, folderKey: parentOf(folder), kind: 'folder', id: folder.folderId });
}

function renameOps(
  scope: OrganizationScope,
  folder: Stored<Folder>,
  { folderName }: { readonly folderName?: string | undefined },
  now: number,
): WriteOp[] {
  if (folderName === undefined || folderName === folder.folderName) return [];
  return [replace(FolderEntity, { ...scope, ...folder, folderName, lastUpdated: now }, folder._r)];
}

function updatedResult({ folderId }: { readonly folderId: string }): ItemResult {
  return { success: true, id: folderId, message: 'Folder Updated.' };
}

function refusedResult({ folderId }: { readonly folderId: string }, message: string): ItemResult {
  return { success: false, id: folderId, message };
}

export const changeFolderAccess: Capability<Pick<FolderChanger, 'updateAccess'>> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith([readFolders, findOrganization, 'PutItem']), queue: sendTo.jobs },
  ({ table, queue }) => new FolderChanger(table, queue),
);

export const changeFolders: Capability<Pick<FolderChanger, 'update' | 'delete'>> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith([readFolders, findOrganization, 'Query', 'PutItem', 'DeleteItem']),
    queue: sendTo.jobs,
  },
  ({ table, queue }) => new FolderChanger(table, queue),
);
