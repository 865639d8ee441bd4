import * as z from 'zod';
import type { Capability } from '../capability.ts';
import { accessTypes, type AccessType } from '../domain/access.ts';
import { inWaves, placeFolder, rootFolderId } from '../domain/folders.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import { defineEntity, type Stored } from './entity.ts';
import type { Added, Organization } from './organizations.ts';
import { insert, openTable, type Table } from './table.ts';
import { type Decision, writeEach } from './writeEach.ts';

const FolderName = z.object({ folderId: z.string(), internalId: z.string() });

const Schema = z.object({
  folderId: z.string(),
  internalId: z.string(),
  folderName: z.string().optional(),
  /** The folders that it lies in, from the top down. */
  ancestors: z.array(FolderName),
  /** The effective access type: its own or the one it inherits. */
  accessType: z.enum(accessTypes),
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
  purpose: 'A folder under the customer\'s id, with its ancestors and effective access type',
  schema: Schema,
  pk: (of: { tenant: string; organization: string }) => [of.tenant, 'ORGANIZATION', of.organization, 'FOLDERS'],
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
  pk: (of: { tenant: string; organization: string; folder: string }) => [of.tenant, 'ORGANIZATION', of.organization, 'FOLDER', of.folder],
  sk: (key: { kind: 'folder' | 'document'; id: string }) => [key.kind, key.id],
});

export interface NewFolder {
  readonly folderId: string;
  readonly folderName?: string | undefined;
  readonly parentFolderId?: string | undefined;
  readonly accessType?: AccessType | undefined;
}

/** Which folders' reads and writes are beneath: the tenant and the organization's internal id. */
export interface Place {
  readonly tenant: string;
  readonly organization: string;
}

/** The place beneath an organization. */
export function placeOf(tenant: string, organization: Pick<Organization, 'internalId'>): Place {
  return { tenant, organization: organization.internalId };
}

export class FolderReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The folders under the customer's ids, undefined where there is none. */
  async named(place: Place, folderIds: readonly string[]): Promise<(Stored<Folder> | undefined)[]> {
    return this.table.getMany(FolderEntity, folderIds.map((folderId) => ({ ...place, folderId })));
  }

  /** The folder under the customer's id. NOT_FOUND when there is none. */
  async require(place: Place, folderId: string): Promise<Stored<Folder>> {
    const folder = await this.table.get(FolderEntity, { ...place, folderId });
    if (!folder) throw new ApiError('NOT_FOUND', 'Folder does not exist');
    return folder;
  }
}

export class FolderWriter extends FolderReader {
  /**
   * Creates folders, parents before children whatever the order of the call (spec 4.20). A taken id, an unknown parent
   * or too deep a place is a failure of that folder alone. Ids are distinct.
   */
  async add(place: Place, folders: readonly NewFolder[], now: number): Promise<Added[]> {
    const results = new Map<NewFolder, Added>();
    const { waves, circular } = inWaves(folders);
    for (const folder of circular) results.set(folder, failed(folder, 'Parent folders form a circle.'));
    for (const wave of waves) {
      const added = await writeEach<NewFolder, { stored: Folder | undefined; parent: Folder | undefined }, Added>({
        table: this.table,
        items: wave,
        read: (items) => this.#readWithParents(place, items),
        decide: (folder, { stored, parent }) => decide(place, folder, stored, parent, now),
        conflicted: (folder) => failed(folder, 'Folder is being changed by another request.'),
      });
      wave.forEach((folder, index) => results.set(folder, added[index] as Added));
    }
    return folders.map((folder) => results.get(folder) as Added);
  }

  /** The folder under the customer's id, created at the root when it is missing and `create` says so; else NOT_FOUND. */
  async ensure(place: Place, folderId: string, create: boolean, now: number): Promise<Folder> {
    if (create) await this.add(place, [{ folderId }], now);
    return this.require(place, folderId);
  }

  async #readWithParents(place: Place, folders: readonly NewFolder[]) {
    const parentIds = folders.flatMap((folder) => parentOf(folder) ?? []);
    const found = await this.named(place, [...folders.map(({ folderId }) => folderId), ...parentIds]);
    const parents = new Map(parentIds.map((folderId, index) => [folderId, found[folders.length + index]] as const));
    return folders.map((folder, index) => ({ stored: found[index], parent: parents.get(parentOf(folder) ?? '') }));
  }
}

/** The parent's id; a folder without one, or under `root`, lies at the top. */
function parentOf({ parentFolderId }: NewFolder): string | undefined {
  return parentFolderId === rootFolderId ? undefined : parentFolderId;
}

function decide(place: Place, folder: NewFolder, stored: Folder | undefined, parent: Folder | undefined, now: number): Decision<Added> {
  const refuse = (message: string) => ({ result: failed(folder, message), ops: [] });
  if (folder.folderId === rootFolderId) return refuse('The id root is reserved.');
  if (stored) return refuse('Folder already exists.');
  if (parentOf(folder) !== undefined && !parent) return refuse('Parent folder does not exist.');
  const position = placeFolder(parent, folder.accessType);
  if (!position) return refuse('Folder would lie too deep.');
  const internalId = newId('fld', now);
  const { folderId, folderName } = folder;
  return {
    result: { success: true, id: folderId, message: 'Folder added.' },
    ops: [
      insert(FolderEntity, { ...place, folderId, folderName, internalId, ...position, ancestors: [...position.ancestors], createdAt: now, lastUpdated: now }),
      insert(FolderEntryEntity, { ...place, folder: parent?.internalId ?? rootFolderId, kind: 'folder', id: folderId, internalId }),
    ],
  };
}

function failed({ folderId }: NewFolder, message: string): Added {
  return { success: false, id: folderId, message };
}

export const readFolders: Capability<FolderReader> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new FolderReader(openTable(env)),
};

export const writeFolders: Capability<FolderWriter> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new FolderWriter(openTable(env)),
};
