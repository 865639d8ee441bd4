import * as z from 'zod';
import { accessTypes, type AccessType } from '../rules/access.ts';
import {
  deepestFolder,
  depthOf,
  type FolderChange,
  inWaves,
  placeFolder,
  resolveFolder,
  rootFolderId,
} from '../rules/folders.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { defineEntity, type Stored } from '../../table/entity.ts';
import type { Added, Organization } from '../organizations.ts';
import { insert, replace, type Table } from '../../table/table.ts';
import { type Decision, writeEach } from '../../table/writeEach.ts';
import { storeCapability } from '../../table/storeCapability.ts';

const FolderName = z.object({ folderId: z.string(), internalId: z.string() });

const Schema = z.object({
  folderId: z.string(),
  internalId: z.string(),
  folderName: z.string().optional(),
  /** The folders that it lies in, from the top down. */
  ancestors: z.array(FolderName),
  /** The effective access type: its own or the one it inherits. */
  accessType: z.enum(accessTypes),
  /** The internal id of the folder whose own type that is, or `root`. */
  accessFrom: z.string().default(rootFolderId),
  inheritAccessFromParent: z.boolean(),
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
  pk: (of: { tenant: string; organizationKey: string }) => [of.tenant, 'ORGANIZATION', of.organizationKey, 'FOLDERS'],
  sk: (key: { folderId: string }) => [key.folderId],
});

/**
 * What lies directly in a folder: documents and folders, by the customer's ids. A reader checks an entry against the
 * thing itself, so an entry that was left behind hides nothing and shows nothing.
 */
export const FolderEntryEntity = defineEntity({
  type: 'FolderEntry',
  version: 1,
  scope: 'tenant',
  ownedBy: 'folder',
  purpose: 'What lies directly in a folder (or at the root)',
  schema: z.object({ kind: z.enum(['folder', 'document']), id: z.string(), internalId: z.string() }),
  pk: (of: { tenant: string; organizationKey: string; folderKey: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'FOLDER',
    of.folderKey,
  ],
  sk: (key: { kind: 'folder' | 'document'; id: string }) => [key.kind, key.id],
});

const ChangeSchema = z.object({
  /** Internal id. */
  folderKey: z.string(),
  folderId: z.string(),
  kind: z.enum(['changed', 'removed']),
  jobId: z.string(),
  /** Epoch ms. */
  at: z.number(),
});
export type StoredFolderChange = Stored<z.output<typeof ChangeSchema>>;

/**
 * That a folder was moved, opened to others or removed, and that a job has not brought it to everything beneath: written together with the
 * folder, removed at the job's end. While there are any, what is stored of folders is to be read with them.
 */
export const FolderChangeEntity = defineEntity({
  type: 'FolderChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A change of a folder that has not reached everything beneath it',
  schema: ChangeSchema,
  pk: (of: { tenant: string; organizationKey: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'FOLDER_CHANGES',
  ],
  sk: (key: { folderKey: string }) => [key.folderKey],
});
export interface NewFolder {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  readonly parentFolderId?: string | undefined;
  readonly accessType?: AccessType | undefined;
}

/** Which folders' reads and writes are beneath: the tenant and the organization's internal id. */
export interface OrganizationScope {
  readonly tenant: string;
  readonly organizationKey: string;
  /** Whether changes of folders are under way, with which what is stored of them is to be read. */
  readonly changingFolders?: boolean | undefined;
  /** Whether users are being removed from folders: what was moved into one or out of it meanwhile is to be asked for. */
  readonly leavingFolders?: boolean | undefined;
}

/** The place beneath an organization. */
export function organizationScope(
  tenant: string,
  {
    internalId,
    folderChanges = 0,
    folderDepartures = 0,
  }: Pick<Organization, 'internalId' | 'folderChanges' | 'folderDepartures'>,
): OrganizationScope {
  return {
    tenant,
    organizationKey: internalId,
    ...(folderChanges > 0 && { changingFolders: true }),
    ...(folderDepartures > 0 && { leavingFolders: true }),
  };
}

/** What there is under a customer's id: the folder or document as it is, and what is stored, which counts as absent and may be written over when it is gone. */
export interface Found<T> {
  readonly live: Stored<T> | undefined;
  readonly stored: Stored<T> | undefined;
}

/** The changes of folders that are under way in an organization. */
export async function folderChangesOf(table: Table, scope: OrganizationScope): Promise<StoredFolderChange[]> {
  const changes: StoredFolderChange[] = [];
  let after: string | undefined;
  do {
    const page = await table.query(FolderChangeEntity, scope, { limit: CHANGES_READ, after });
    changes.push(...page.values);
    after = page.next;
  } while (after !== undefined);
  return changes;
}

const PARENT_ABSENT = 'Parent folder does not exist.';
const TOO_DEEP = 'Folder would lie too deep.';

const CHANGES_READ = 1_000;
/** How often folders are read anew that were being moved about meanwhile. */
const READING_TRIES = 5;

export class FolderReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The folders under the customer's ids, undefined where there is none. */
  async named(scope: OrganizationScope, folderIds: readonly string[]): Promise<(Stored<Folder> | undefined)[]> {
    return (await this.find(scope, folderIds)).map(({ live }) => live);
  }

  /** The folder under the customer's id. NOT_FOUND when there is none. */
  async require(scope: OrganizationScope, folderId: string): Promise<Stored<Folder>> {
    const folder = scope.changingFolders
      ? (await this.named(scope, [folderId]))[0]
      : await this.table.get(FolderEntity, { ...scope, folderId });
    if (!folder) throw new ApiError('NOT_FOUND', 'Folder does not exist');
    return folder;
  }

  /** The same with what is stored. One BatchGet; while folders are being changed, their changes beside it and the changed ones after it. */
  async find(scope: OrganizationScope, folderIds: readonly string[]): Promise<Found<Folder>[]> {
    const read = () =>
      this.table.getMany(
        FolderEntity,
        folderIds.map((folderId) => ({ ...scope, folderId })),
      );
    if (!scope.changingFolders || folderIds.length === 0)
      return (await read()).map((stored) => ({ live: stored, stored }));
    for (let attempt = 0; attempt < READING_TRIES; attempt++) {
      const [changes, folders] = await Promise.all([folderChangesOf(this.table, scope), read()]);
      const live = await this.#resolved(scope, folders, changes);
      if (live) return folders.map((stored, index) => ({ live: live[index], stored }));
    }
    throw Object.assign(new Error('Others kept moving the folders while they were read'), {
      name: 'ThrottlingException',
    });
  }

  /** The folders as they are, undefined where one is gone; undefined altogether when they must be read anew. */
  async #resolved(
    scope: OrganizationScope,
    folders: readonly (Stored<Folder> | undefined)[],
    found: readonly StoredFolderChange[],
  ): Promise<(Stored<Folder> | undefined)[] | undefined> {
    const changes = new Map(
      found.map(({ folderKey, folderId, kind }): [string, FolderChange] => [folderKey, { folderId, kind }]),
    );
    const read = new Map<string, Stored<Folder> | undefined>();
    for (;;) {
      const resolutions = folders.map((folder) => (folder ? resolveFolder(folder, { changes, read }) : 'gone'));
      if (resolutions.includes('torn')) return undefined;
      const needed = resolutions.flatMap((one) => (typeof one === 'object' && 'needs' in one ? [one.needs] : []));
      if (needed.length === 0)
        return resolutions.map((one) => (typeof one === 'object' && 'folder' in one ? one.folder : undefined));
      const changed = await this.table.getMany(
        FolderEntity,
        needed.map(({ folderId }) => ({ ...scope, folderId })),
      );
      needed.forEach(({ internalId }, index) =>
        read.set(internalId, changed[index]?.internalId === internalId ? changed[index] : undefined),
      );
    }
  }
}

export class FolderWriter extends FolderReader {
  /**
   * Creates folders, parents before children whatever the order of the call (spec 4.20). A taken id, an unknown parent
   * or too deep a place is a failure of that folder alone. Ids are distinct.
   */
  async add(scope: OrganizationScope, folders: readonly NewFolder[], now: number): Promise<Added[]> {
    const results = new Map<NewFolder, Added>();
    const { waves, circular } = inWaves(folders);
    for (const folder of circular) results.set(folder, failed(folder, 'Parent folders form a circle.'));
    for (const wave of waves) {
      const added = await writeEach<NewFolder, AddState, Added>({
        table: this.table,
        items: wave,
        read: (items) => this.#readWithParents(scope, items),
        decide: (folder, state) => decide(scope, folder, state, now),
        conflicted: (folder) => failed(folder, 'Folder is being changed by another request.'),
      });
      wave.forEach((folder, index) => results.set(folder, added[index] as Added));
    }
    return folders.map((folder) => results.get(folder) as Added);
  }

  /**
   * The folder under the customer's id, created when it is missing and `create` says so: in the parent that is named, else at the root. NOT_FOUND when
   * there is no such folder, or no such parent to create it in; FAILED_PRECONDITION when it would lie too deep.
   */
  async ensure(
    scope: OrganizationScope,
    folderId: string,
    create: boolean,
    now: number,
    parentFolderId?: string,
  ): Promise<Folder> {
    const [added] = create ? await this.add(scope, [{ folderId, parentFolderId }], now) : [];
    if (added?.message === PARENT_ABSENT) throw new ApiError('NOT_FOUND', 'Parent folder does not exist');
    if (added?.message === TOO_DEEP) throw new ApiError('FAILED_PRECONDITION', 'The folder would lie too deep');
    return this.require(scope, folderId);
  }

  async #readWithParents(scope: OrganizationScope, folders: readonly NewFolder[]): Promise<AddState[]> {
    const parentIds = folders.flatMap((folder) => parentIdOf(folder) ?? []);
    const found = await this.find(scope, [...folders.map(({ folderId }) => folderId), ...parentIds]);
    const parents = new Map(
      parentIds.map((folderId, index) => [folderId, found[folders.length + index]?.live] as const),
    );
    return folders.map((folder, index) => ({
      found: found[index] as Found<Folder>,
      parent: parents.get(parentIdOf(folder) ?? ''),
    }));
  }
}

interface AddState {
  readonly found: Found<Folder>;
  readonly parent: Folder | undefined;
}

/** The parent's id; a folder without one, or under `root`, lies at the top. */
function parentIdOf({ parentFolderId }: NewFolder): string | undefined {
  return parentFolderId === rootFolderId ? undefined : parentFolderId;
}

function decide(
  scope: OrganizationScope,
  folder: NewFolder,
  { found, parent }: AddState,
  now: number,
): Decision<Added> {
  const refuse = (message: string) => ({ result: failed(folder, message), ops: [] });
  if (folder.folderId === rootFolderId) return refuse('The id root is reserved.');
  if (found.live) return refuse('Folder already exists.');
  if (parentIdOf(folder) !== undefined && !parent) return refuse(PARENT_ABSENT);
  const internalId = newId('fld', now);
  const { folderId, folderName, accessType } = folder;
  const position = placeFolder(parent, { internalId, accessType });
  if (depthOf(position) > deepestFolder) return refuse(TOO_DEEP);
  const added = {
    ...scope,
    folderId,
    folderName,
    internalId,
    ...position,
    ancestors: [...position.ancestors],
    createdAt: now,
    lastUpdated: now,
  };
  return {
    result: { success: true, id: folderId, message: 'Folder added.' },
    ops: [
      found.stored ? replace(FolderEntity, added, found.stored._r) : insert(FolderEntity, added),
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

function failed({ folderId }: NewFolder, message: string): Added {
  return { success: false, id: folderId, message };
}

export const readFolders = /* @__PURE__ */ storeCapability(FolderReader, ['GetItem', 'BatchGetItem', 'Query']);

export const writeFolders = /* @__PURE__ */ storeCapability(FolderWriter, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
