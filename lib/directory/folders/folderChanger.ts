import { type AccessType, folderChain } from '../rules/access.ts';
import {
  deepestFolder,
  depthOf,
  isWithin,
  ownAccess,
  parentOf,
  computePosition,
  rootFolderId,
  isSamePosition,
} from '../rules/folders.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { inSlices } from '../../shared/inSlices.ts';
import type { Stored } from '../../table/entity.ts';
import type { FolderJobData } from './changeFoldersStep.ts';
import { recordCrossings } from './folderDepartures.ts';
import {
  type Folder,
  FolderChangeEntity,
  FolderEntity,
  FolderEntryEntity,
  FolderReader,
  type OrganizationScope,
  organizationScope,
} from './folders.ts';
import { notifyJobs, startJob } from '../../jobs/jobStore.ts';
import { combine } from '../../app/capability.ts';
import type { Log } from '../../app/endpoint.ts';
import * as sendTo from '../../workers/sendTo.ts';
import type { QueueSender } from '../../workers/sender.ts';
import { OrganizationLock } from '../organizationLock.ts';
import type { AddedResult, Organization } from '../organizations.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, upsert, type WriteOp } from '../../table/table.ts';
import { writeEach } from '../../table/writeEach.ts';
import { tableWith } from '../../table/storeCapability.ts';

/** The most folders below a folder that is moved to a deeper level: a request reads no more. */
export const MAX_FOLDERS_BELOW = 1_000;
/** Folders whose entries are read at the same time. */
const PARALLEL = 16;
/** When the sweeper runs a job whose message was lost, milliseconds. */
const SWEPT_AFTER = 60_000;
const BUSY = 'Folder is being changed by another request.';

/** The requested changes of a folder. Fields that are left out stay. */
export interface FolderUpdate {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  /** The new parent folder; null for the top. */
  readonly parentFolderId?: string | null | undefined;
}

export interface FolderAccessResult {
  readonly success: boolean;
  /** Null if the folder inherits, or was not changed. */
  readonly accessType: AccessType | null;
  readonly inheritFromParent?: boolean;
  readonly message: string;
}

/** The organization whose folders a request changes, and the request's time (epoch ms) and log. */
export interface FolderRequest {
  readonly tenant: string;
  readonly organization: Stored<Organization>;
  readonly now: number;
  readonly log: Log;
}

/**
 * Changes folders. Readers see a change as soon as its transaction is written: they combine the stored folders with the
 * recorded changes. A job then rewrites or purges the folders and documents below.
 */
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
   * Renames and moves folders, in the order of the call. Ids are distinct. A folder fails alone if it or its new
   * parent is unknown, if it would be too deep, or if the new parent is the folder itself or below it.
   */
  async update(request: FolderRequest, updates: readonly FolderUpdate[]): Promise<AddedResult[]> {
    const { tenant, organization, now } = request;
    const renames = updates.filter(({ parentFolderId }) => parentFolderId === undefined);
    const renamed = await this.#rename(organizationScope(tenant, organization), renames, now);
    const results = new Map(renames.map((rename, index) => [rename, renamed[index] as AddedResult]));
    const change = new TreeChange(this.#table, request);
    // In order: each move can change the ancestors of the next one's parent.
    for (const update of updates)
      if (update.parentFolderId !== undefined) results.set(update, await this.#move(change, update));
    await change.notify(this.#queue);
    return updates.map((update) => results.get(update) as AddedResult);
  }

  /**
   * Sets the folders' own access type. Without an access type they inherit that of their parent. Ids are distinct; an
   * unknown folder fails alone.
   */
  async updateAccess(
    request: FolderRequest,
    folderIds: readonly string[],
    accessType: AccessType | undefined,
  ): Promise<FolderAccessResult[]> {
    const { tenant, organization, now } = request;
    const scope = organizationScope(tenant, organization);
    const change = new TreeChange(this.#table, request);
    const access = accessType === undefined ? { accessType: null, inheritFromParent: true } : { accessType };
    const positionOf = ({ folder, parent }: WithParent) =>
      computePosition(parent, { internalId: folder.internalId, accessType });
    const results = await writeEach<string, WithParent | undefined, FolderAccessResult>({
      table: this.#table,
      items: folderIds,
      read: async (items) => {
        const states = await this.#withParents(scope, items);
        if (states.some((state) => state && !isSamePosition(positionOf(state), state.folder))) await change.start();
        return states;
      },
      decide: (_folderId, state) => {
        if (!state) return { result: { success: false, accessType: null, message: 'Folder does not exist.' }, ops: [] };
        const result = { success: true, ...access, message: 'Folder access type updated.' };
        const position = positionOf(state);
        if (isSamePosition(position, state.folder)) return { result, ops: [] };
        const next = { ...state.folder, ...position, ancestors: [...position.ancestors], lastUpdated: now };
        return {
          result,
          ops: [replace(FolderEntity, { ...scope, ...next }, state.folder._r), change.record(state.folder, 'changed')],
        };
      },
      conflicted: () => ({ success: false, accessType: null, message: BUSY }),
    });
    await change.notify(this.#queue);
    return results;
  }

  /** Deletes a folder. A job purges its content. Throws NOT_FOUND if it does not exist. */
  async delete(request: FolderRequest, folderId: string): Promise<void> {
    const change = new TreeChange(this.#table, request);
    await retryOnConflict(async () => {
      const scope = await change.scope();
      const [folder] = await this.#folders.getByIds(scope, [folderId]);
      if (!folder) throw new ApiError('NOT_FOUND', 'Folder not found.');
      return change.write([
        remove(FolderEntity, { ...scope, folderId }, folder._r),
        removeEntry(scope, folder),
        change.record(folder, 'removed'),
      ]);
    });
    await change.notify(this.#queue);
  }

  async #rename(scope: OrganizationScope, renames: readonly FolderUpdate[], now: number): Promise<AddedResult[]> {
    return writeEach<FolderUpdate, Stored<Folder> | undefined, AddedResult>({
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

  async #move(change: TreeChange, update: FolderUpdate): Promise<AddedResult> {
    const parentId =
      update.parentFolderId === null || update.parentFolderId === rootFolderId ? undefined : update.parentFolderId;
    return retryOnConflict(async () => {
      const scope = await change.scope();
      const [folder, parent] = await this.#folders.getByIds(scope, [
        update.folderId,
        ...(parentId === undefined ? [] : [parentId]),
      ]);
      if (!folder) return refusedResult(update, 'Folder does not exist.');
      if (parentId !== undefined && !parent) return refusedResult(update, 'Parent folder does not exist.');
      if (parentOf(folder) === (parent?.internalId ?? rootFolderId)) {
        return (await this.#table.write(renameOps(scope, folder, update, change.now))) === 'done'
          ? updatedResult(update)
          : 'conflict';
      }
      if (parent && isWithin(parent, folder.internalId))
        return refusedResult(update, 'Folder cannot be moved into itself.');
      const position = computePosition(parent, ownAccess(folder));
      const tooDeep = await this.#refuseDepth(scope, folder, depthOf(position));
      if (tooDeep) return refusedResult(update, tooDeep);
      const { folderId, internalId } = folder;
      const moved = {
        ...folder,
        ...position,
        ancestors: [...position.ancestors],
        folderName: update.folderName ?? folder.folderName,
        lastUpdated: change.now,
      };
      const outcome = await change.write([
        replace(FolderEntity, { ...scope, ...moved }, folder._r),
        removeEntry(scope, folder),
        insert(FolderEntryEntity, { ...scope, folderKey: parentOf(moved), kind: 'folder', id: folderId, internalId }),
        change.record(folder, 'changed'),
        ...(await recordCrossings(
          this.#table,
          scope,
          [{ internalId, from: folderChain(folder).slice(1), to: folderChain(moved).slice(1) }],
          change.now,
        )),
      ]);
      return outcome === 'done' ? updatedResult(update) : 'conflict';
    });
  }

  /**
   * Returns why a folder, with the folders below it, cannot be at a depth; undefined if it can. Reads the folders below
   * only if the folder moves to a deeper level.
   */
  async #refuseDepth(scope: OrganizationScope, folder: Folder, depth: number): Promise<string | undefined> {
    if (depth > deepestFolder) return 'Folder would be too deep.';
    if (depth <= depthOf(folder)) return undefined;
    let level: readonly string[] = [folder.internalId];
    let room = MAX_FOLDERS_BELOW;
    for (let at = depth; level.length > 0; at++) {
      if (at > deepestFolder) return 'A folder below this folder would be too deep.';
      level = (
        await inSlices(level, PARALLEL, async (some) =>
          room < 0 ? [] : Promise.all(some.map((internalId) => this.#subfolders(scope, internalId, room + 1))),
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
  /** Undefined at the top. */
  readonly parent: Stored<Folder> | undefined;
}

/**
 * The changes of the folder tree by one request. The job is stored and counted in the organization in the transaction
 * of the first change. Moves and deletions also write the organization at the revision that was read before the tree:
 * two concurrent moves cannot form a circle, because the later one conflicts and reads the tree again.
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

  /** Returns the scope to read the tree in. Reads the organization again after a conflict. */
  async scope(): Promise<OrganizationScope> {
    return this.#lock.scope();
  }

  /** Stores the job, for changes that are written without the organization. */
  async start(): Promise<void> {
    if (this.#isStarted) return;
    await retryOnConflict(async () => {
      await this.scope();
      return this.write([]);
    });
  }

  /** Writes a change together with the organization at the revision that was read. */
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

  /**
   * Returns the operation that records a changed or deleted folder until the job has rewritten or purged the folders
   * and documents below it.
   */
  record({ folderId, internalId }: Folder, kind: 'changed' | 'removed'): WriteOp {
    return upsert(FolderChangeEntity, {
      tenant: this.#request.tenant,
      organizationKey: this.#lock.ids.organizationKey,
      folderKey: internalId,
      folderId,
      kind,
      jobId: this.#jobId,
      at: this.now,
    });
  }

  /** Sends the queue message of the job if the job was stored. */
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
  { folderName }: FolderUpdate,
  now: number,
): WriteOp[] {
  if (folderName === undefined || folderName === folder.folderName) return [];
  return [replace(FolderEntity, { ...scope, ...folder, folderName, lastUpdated: now }, folder._r)];
}

function updatedResult({ folderId }: FolderUpdate): AddedResult {
  return { success: true, id: folderId, message: 'Folder Updated.' };
}

function refusedResult({ folderId }: FolderUpdate, message: string): AddedResult {
  return { success: false, id: folderId, message };
}

export const changeFolders = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem']),
    queue: sendTo.jobs,
  },
  ({ table, queue }) => new FolderChanger(table, queue),
);
