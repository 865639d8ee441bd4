import { type AccessType, folderChain } from '../rules/access.ts';
import {
  deepestFolder,
  depthOf,
  liesWithin,
  ownAccess,
  parentOf,
  placeFolder,
  rootFolderId,
  samePosition,
} from '../rules/folders.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { inSlices } from '../../shared/inSlices.ts';
import type { Stored } from '../../table/entity.ts';
import type { FolderJobData } from './changeFoldersStep.ts';
import { crossings } from './folderDepartures.ts';
import {
  type Folder,
  FolderChangeEntity,
  FolderEntity,
  FolderEntryEntity,
  FolderReader,
  type Found,
  type OrganizationScope,
  organizationScope,
} from './folders.ts';
import { beginJob } from '../../jobs/jobStore.ts';
import { OrganizationHead } from '../organizationHead.ts';
import type { Added, Organization } from '../organizations.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, upsert, type WriteOp } from '../../table/table.ts';
import { writeEach } from '../../table/writeEach.ts';
import { storeCapability } from '../../table/storeCapability.ts';

/** How many folders may lie beneath one that is moved deeper; more are not looked at in a request. */
export const MOST_BENEATH = 1_000;
/** Folders whose entries are read at the same time. */
const PARALLEL = 16;
/** When the sweeper begins a job whose message was lost. */
const TIME_TO_BEGIN = 60_000;
const BUSY = 'Folder is being changed by another request.';

/** What is to change of a folder; what is left out stays. */
export interface FolderUpdate {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  /** The folder to lie in; null for the top. */
  readonly parentFolderId?: string | null | undefined;
}

export interface FolderAccessUpdated {
  readonly success: boolean;
  /** Null when the folder inherits, or was not changed. */
  readonly accessType: AccessType | null;
  readonly inheritFromParent?: boolean;
  readonly message: string;
}

/** What a call has changed, and the job that brings it to what is beneath these folders, when there is one. */
export interface FoldersChanged<R> {
  readonly results: R;
  readonly jobId: string | undefined;
}

/** Changes folders; what lies beneath them follows by a job, and is read as it will be from the change on. */
export class FolderChanger extends FolderReader {
  /**
   * Renames and moves folders, in the order of the call; an unknown one, an unknown parent, too deep a place or one beneath the folder
   * itself is a failure of that folder alone. Ids are distinct.
   */
  async update(
    tenant: string,
    organization: Stored<Organization>,
    updates: readonly FolderUpdate[],
    now: number,
  ): Promise<FoldersChanged<Added[]>> {
    const renames = updates.filter(({ parentFolderId }) => parentFolderId === undefined);
    const results = new Map<FolderUpdate, Added>();
    (await this.#rename(organizationScope(tenant, organization), renames, now)).forEach((result, index) =>
      results.set(renames[index] as FolderUpdate, result),
    );
    const call = new ChangingCall(this.table, tenant, organization, now);
    // One after the other: each may change where the next one's parent lies.
    for (const update of updates)
      if (update.parentFolderId !== undefined) results.set(update, await this.#move(call, update));
    return { results: updates.map((update) => results.get(update) as Added), jobId: call.jobId };
  }

  /** Sets the folders' own access type, or makes them inherit that of the folder that they lie in. Ids are distinct; an unknown one fails alone. */
  async updateAccess(
    tenant: string,
    organization: Stored<Organization>,
    folderIds: readonly string[],
    accessType: AccessType | undefined,
    now: number,
  ): Promise<FoldersChanged<FolderAccessUpdated[]>> {
    const scope = organizationScope(tenant, organization);
    const call = new ChangingCall(this.table, tenant, organization, now);
    const access = accessType === undefined ? { accessType: null, inheritFromParent: true } : { accessType };
    const positionOf = ({ folder, parent }: WithParent) =>
      placeFolder(parent, { internalId: folder.internalId, accessType });
    const results = await writeEach<string, WithParent | undefined, FolderAccessUpdated>({
      table: this.table,
      items: folderIds,
      read: async (items) => {
        const states = await this.#withParents(scope, items);
        if (states.some((state) => state && !samePosition(positionOf(state), state.folder))) await call.begin();
        return states;
      },
      decide: (_folderId, state) => {
        if (!state) return { result: { success: false, accessType: null, message: 'Folder does not exist.' }, ops: [] };
        const result = { success: true, ...access, message: 'Folder access type updated.' };
        const position = positionOf(state);
        if (samePosition(position, state.folder)) return { result, ops: [] };
        return {
          result,
          ops: [
            replace(
              FolderEntity,
              { ...scope, ...state.folder, ...position, ancestors: [...position.ancestors], lastUpdated: now },
              state.folder._r,
            ),
            call.changed(state.folder),
          ],
        };
      },
      conflicted: () => ({ success: false, accessType: null, message: BUSY }),
    });
    return { results, jobId: call.jobId };
  }

  /** Removes a folder; what lies in it is gone with it, and removed by the job. NOT_FOUND when there is none. */
  async remove(
    tenant: string,
    organization: Stored<Organization>,
    folderId: string,
    now: number,
  ): Promise<FoldersChanged<undefined>> {
    const call = new ChangingCall(this.table, tenant, organization, now);
    await retryOnConflict(async () => {
      const scope = await call.scope();
      const [found] = await this.find(scope, [folderId]);
      const folder = found?.live;
      if (!folder) throw new ApiError('NOT_FOUND', 'Folder not found.');
      return call.write([
        remove(FolderEntity, { ...scope, folderId }, folder._r),
        removeEntry(scope, folder),
        call.removed(folder),
      ]);
    });
    return { results: undefined, jobId: call.jobId };
  }

  async #rename(scope: OrganizationScope, renames: readonly FolderUpdate[], now: number): Promise<Added[]> {
    return writeEach<FolderUpdate, Found<Folder>, Added>({
      table: this.table,
      items: renames,
      read: (items) =>
        this.find(
          scope,
          items.map(({ folderId }) => folderId),
        ),
      decide: (update, { live }) =>
        live
          ? { result: updated(update), ops: renamed(scope, live, update, now) }
          : { result: refused(update, 'Folder does not exist.'), ops: [] },
      conflicted: (update) => refused(update, BUSY),
    });
  }

  async #move(call: ChangingCall, update: FolderUpdate): Promise<Added> {
    const parentId =
      update.parentFolderId === null || update.parentFolderId === rootFolderId ? undefined : update.parentFolderId;
    return retryOnConflict(async () => {
      const scope = await call.scope();
      const [found, parentFound] = await this.find(scope, [
        update.folderId,
        ...(parentId === undefined ? [] : [parentId]),
      ]);
      const [folder, parent] = [found?.live, parentFound?.live];
      if (!folder) return refused(update, 'Folder does not exist.');
      if (parentId !== undefined && !parent) return refused(update, 'Parent folder does not exist.');
      if (parentOf(folder) === (parent?.internalId ?? rootFolderId)) {
        return (await this.table.write(renamed(scope, folder, update, call.now))) === 'done'
          ? updated(update)
          : 'conflict';
      }
      if (parent && liesWithin(parent, folder.internalId)) return refused(update, 'Folder would lie within itself.');
      const position = placeFolder(parent, ownAccess(folder));
      const tooDeep = await this.#tooDeep(scope, folder, depthOf(position));
      if (tooDeep) return refused(update, tooDeep);
      const { folderId, internalId } = folder;
      const moved = {
        ...folder,
        ...position,
        ancestors: [...position.ancestors],
        folderName: update.folderName ?? folder.folderName,
        lastUpdated: call.now,
      };
      const outcome = await call.write([
        replace(FolderEntity, { ...scope, ...moved }, folder._r),
        removeEntry(scope, folder),
        insert(FolderEntryEntity, { ...scope, folderKey: parentOf(moved), kind: 'folder', id: folderId, internalId }),
        call.changed(folder),
        ...(await crossings(
          this.table,
          scope,
          [{ internalId, from: folderChain(folder).slice(1), to: folderChain(moved).slice(1) }],
          call.now,
        )),
      ]);
      return outcome === 'done' ? updated(update) : 'conflict';
    });
  }

  /** Why a folder and what is beneath it cannot be as deep as that; undefined when it can. Reads what is beneath it only when it goes deeper. */
  async #tooDeep(scope: OrganizationScope, folder: Folder, depth: number): Promise<string | undefined> {
    if (depth > deepestFolder) return 'Folder would lie too deep.';
    if (depth <= depthOf(folder)) return undefined;
    let level: readonly string[] = [folder.internalId];
    let room = MOST_BENEATH;
    for (let at = depth; level.length > 0; at++) {
      if (at > deepestFolder) return 'What is beneath the folder would lie too deep.';
      level = (
        await inSlices(level, PARALLEL, async (some) =>
          room < 0 ? [] : Promise.all(some.map((internalId) => this.#subfolders(scope, internalId, room + 1))),
        )
      ).flat();
      room -= level.length;
      if (room < 0) return `More than ${MOST_BENEATH} folders are beneath the folder; move them in parts.`;
    }
    return undefined;
  }

  async #subfolders(scope: OrganizationScope, folder: string, limit: number): Promise<string[]> {
    const { values } = await this.table.query(
      FolderEntryEntity,
      { ...scope, folderKey: folder },
      { prefix: ['folder'], limit },
    );
    return values.map(({ internalId }) => internalId);
  }

  async #withParents(scope: OrganizationScope, folderIds: readonly string[]): Promise<(WithParent | undefined)[]> {
    const folders = await this.named(scope, folderIds);
    const parentIds = folders.flatMap((folder) => folder?.ancestors.at(-1)?.folderId ?? []);
    const parents = new Map(
      (await this.named(scope, parentIds)).flatMap((parent) => (parent ? [[parent.internalId, parent] as const] : [])),
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
 * A call that changes the tree of folders. Its job is begun with its first change, and counted in the organization, in one transaction.
 * What moves or removes a folder writes the organization every time, over the revision that was read before the tree was: so one of two
 * who would make a circle together reads anew.
 */
class ChangingCall {
  readonly now: number;
  readonly #tenant: string;
  readonly #head: OrganizationHead;
  readonly #id: string;
  #begun = false;

  constructor(table: Table, tenant: string, organization: Stored<Organization>, now: number) {
    this.#tenant = tenant;
    this.#head = new OrganizationHead(table, tenant, organization);
    this.now = now;
    this.#id = newId('job', now);
  }

  /** The job, once it is begun. */
  get jobId(): string | undefined {
    return this.#begun ? this.#id : undefined;
  }

  /** The organization to read the tree of; read anew after somebody else wrote it. INVALID_ARGUMENT when it is gone. */
  async scope(): Promise<OrganizationScope> {
    return this.#head.scope();
  }

  /** Begins the job, for changes that are written without the organization. */
  async begin(): Promise<void> {
    if (this.#begun) return;
    await retryOnConflict(async () => {
      await this.scope();
      return this.write([]);
    });
  }

  /** Writes a change together with the organization as it was read. */
  async write(ops: readonly WriteOp[]): Promise<'done' | 'conflict'> {
    const data: FolderJobData = this.#head.ids;
    const job = { jobId: this.#id, kind: 'changeFolders', data, dueAt: this.now + TIME_TO_BEGIN } as const;
    const outcome = await this.#head.write('folderChanges', this.#begun ? 0 : 1, [
      ...(this.#begun ? [] : [beginJob(this.#tenant, job, this.now)]),
      ...ops,
    ]);
    if (outcome === 'done') this.#begun = true;
    return outcome;
  }

  /** That a folder is changed, or removed, until the job has brought it to what is beneath. */
  changed(folder: Folder): WriteOp {
    return this.#change(folder, 'changed');
  }

  removed(folder: Folder): WriteOp {
    return this.#change(folder, 'removed');
  }

  #change({ folderId, internalId }: Folder, kind: 'changed' | 'removed'): WriteOp {
    return upsert(FolderChangeEntity, {
      tenant: this.#tenant,
      organizationKey: this.#head.ids.organizationKey,
      folderKey: internalId,
      folderId,
      kind,
      jobId: this.#id,
      at: this.now,
    });
  }
}

function removeEntry(scope: OrganizationScope, folder: Folder): WriteOp {
  return remove(FolderEntryEntity, { ...scope, folderKey: parentOf(folder), kind: 'folder', id: folder.folderId });
}

function renamed(
  scope: OrganizationScope,
  folder: Stored<Folder>,
  { folderName }: FolderUpdate,
  now: number,
): WriteOp[] {
  if (folderName === undefined || folderName === folder.folderName) return [];
  return [replace(FolderEntity, { ...scope, ...folder, folderName, lastUpdated: now }, folder._r)];
}

function updated({ folderId }: FolderUpdate): Added {
  return { success: true, id: folderId, message: 'Folder Updated.' };
}

function refused({ folderId }: FolderUpdate, message: string): Added {
  return { success: false, id: folderId, message };
}

/** Change folders. */
export const changeFolders = /* @__PURE__ */ storeCapability(FolderChanger, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
