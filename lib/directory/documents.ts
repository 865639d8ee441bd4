import * as z from 'zod';
import { type AccessType, accessTypes } from '../app/rules/access.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { type DocumentResult, failedDocument } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import {
  insert,
  insertOrReplace,
  type ItemReader,
  type PageOptions,
  type QueryPage,
  remove,
  type Table,
  type WriteOp,
} from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { type CurrentAndStored, type Folder, FolderEntryEntity, FolderReader, readFolders } from './folders/folders.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';

const Schema = z.object({
  documentId: z.string(),
  internalId: z.string(),
  documentName: z.string().optional(),
  /** Applies only while the document is in no folder. */
  accessType: z.enum(accessTypes),
  /** The folders above it are not stored here, so a move of a folder does not rewrite documents. */
  folder: z.object({ folderId: z.string(), internalId: z.string() }).optional(),
  /** Epoch ms. A move of a folder above does not change it. */
  movedAt: z.number().optional(),
  disabled: z.boolean(),
  /** The document gets another id. It can be read, but not changed. */
  leaving: z.object({ migrationId: z.string(), to: z.string() }).optional(),
  /** Reserves the id for a document that has another id until its migration ends. Has its internal id. */
  arriving: z.object({ migrationId: z.string(), from: z.string() }).optional(),
  metadata: z.string().optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Document = z.output<typeof Schema>;

export const DocumentEntity = defineEntity({
  type: 'Document',
  version: 2,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: "A document under the customer's id, with its internal id and folder",
  schema: Schema,
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'DOCUMENTS'),
  sk: (key: { documentId: string }) => [key.documentId],
});

export interface NewDocument {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  readonly accessType?: AccessType | undefined;
  readonly metadata?: string | undefined;
}

export type DocumentWithFolder = Omit<Stored<Document>, 'folder'> & { readonly folder: Stored<Folder> | undefined };

export interface DocumentPage extends QueryPage<DocumentWithFolder> {
  /** The last document that was read, even if `values` leaves it out. */
  readonly lastId: string | undefined;
}

export const ABSENT = 'Document does not exist';
export const MIGRATES = 'The document is being migrated to another id';
export const DISABLED = 'The document is disabled';
export const BUSY = 'Document is being changed by another request.';

type MovingDocument = Pick<Document, 'documentId'> & Partial<Pick<Document, 'arriving' | 'leaving'>>;

/** Throws FAILED_PRECONDITION if a document has another id until its migration ends. */
export function refuseArriving(documents: readonly (Omit<MovingDocument, 'leaving'> | undefined)[]): void {
  for (const document of documents) if (document?.arriving) throw migrates(document.arriving, document.documentId);
}

/** Returns whether a document is being migrated from or to its id. */
export function isMigrating({ leaving, arriving }: Partial<Pick<Document, 'arriving' | 'leaving'>>): boolean {
  return leaving !== undefined || arriving !== undefined;
}

/** Throws FAILED_PRECONDITION if a document is being migrated from or to its id. */
export function refuseMigrating(documents: readonly (MovingDocument | undefined)[]): void {
  for (const document of documents) {
    const migration = document?.leaving ?? document?.arriving;
    if (document && migration) throw migrates(migration, document.documentId);
  }
}

/** `documentId` is the id in the request, the old or the new one. */
export function migrates({ migrationId }: { readonly migrationId: string }, documentId: string): ApiError {
  return new ApiError('FAILED_PRECONDITION', MIGRATES, { details: { migrationId, documentId } });
}

export class DocumentReader {
  readonly #table: Table;
  readonly #items: ItemReader;
  readonly #folders: FolderReader;

  constructor(table: Table, items: ItemReader = table) {
    this.#table = table;
    this.#items = items;
    this.#folders = new FolderReader(table);
  }

  async getByIds(scope: OrganizationScope, documentIds: readonly string[]): Promise<(Stored<Document> | undefined)[]> {
    return (await this.find(scope, documentIds)).map(({ current }) => current);
  }

  async getWithFolders(
    scope: OrganizationScope,
    documentIds: readonly string[],
  ): Promise<(DocumentWithFolder | undefined)[]> {
    return this.attachFolders(scope, await this.#getStored(scope, documentIds));
  }

  async get(scope: OrganizationScope, documentId: string): Promise<Stored<Document> | undefined> {
    return scope.hasFolderChanges
      ? (await this.getByIds(scope, [documentId]))[0]
      : this.#items.get(DocumentEntity, { ...scope, documentId });
  }

  async require(scope: OrganizationScope, documentId: string): Promise<Stored<Document>> {
    const document = await this.get(scope, documentId);
    if (!document) throw new ApiError('NOT_FOUND', ABSENT);
    refuseArriving([document]);
    return document;
  }

  /**
   * In the order of the ids, 100 per BatchGet. `current` is undefined for a document in a deleted folder, which is
   * stored until a job purges it.
   */
  async find(scope: OrganizationScope, documentIds: readonly string[]): Promise<CurrentAndStored<Document>[]> {
    const documents = await this.#getStored(scope, documentIds);
    if (!scope.hasFolderChanges) return documents.map((stored) => ({ current: stored, stored }));
    const withFolders = await this.attachFolders(scope, documents);
    return documents.map((stored, index) => ({ current: withFolders[index] && stored, stored }));
  }

  async #getStored(
    scope: OrganizationScope,
    documentIds: readonly string[],
  ): Promise<(Stored<Document> | undefined)[]> {
    return this.#table.getMany(
      DocumentEntity,
      documentIds.map((documentId) => ({ ...scope, documentId })),
    );
  }

  async list(scope: OrganizationScope, options: PageOptions): Promise<DocumentPage> {
    const page = await this.#table.query(DocumentEntity, scope, options);
    const documents = await this.attachFolders(
      scope,
      page.values.filter(({ arriving }) => !arriving),
    );
    return {
      values: documents.filter((document) => document !== undefined),
      next: page.next,
      lastId: page.values.at(-1)?.documentId,
    };
  }

  async listInFolder(scope: OrganizationScope, folder: Stored<Folder>, options: PageOptions): Promise<DocumentPage> {
    const folderKey = folder.internalId;
    const { values, next } = await this.#table.query(
      FolderEntryEntity,
      { ...scope, folderKey },
      { ...options, prefix: ['document'] },
    );
    const documents = await this.getByIds(
      scope,
      values.map(({ id }) => id),
    );
    return {
      values: documents
        .filter((document) => document !== undefined)
        .filter((document) => document.folder?.internalId === folderKey)
        .map((document) => ({ ...document, folder })),
      next,
      lastId: values.at(-1)?.id,
    };
  }

  /** A result is undefined for a document in a deleted folder. Reads nothing if no document is in a folder. */
  async attachFolders(
    scope: OrganizationScope,
    documents: readonly (Stored<Document> | undefined)[],
  ): Promise<(DocumentWithFolder | undefined)[]> {
    const folders = await this.#folders.getByIds(
      scope,
      distinct(documents.flatMap((document) => document?.folder?.folderId ?? [])),
    );
    const byKey = new Map(folders.map((folder) => [folder?.internalId, folder]));
    return documents.map((document) => {
      if (!document?.folder) return document && { ...document, folder: undefined };
      const folder = byKey.get(document.folder.internalId);
      return folder && { ...document, folder };
    });
  }
}

export class DocumentWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Ids must be distinct. A document that exists already is not changed and fails in its own result only. */
  async add(
    scope: OrganizationScope,
    documents: readonly NewDocument[],
    { accessType, ensureFolder }: { accessType: AccessType; ensureFolder?: () => Promise<Folder | undefined> },
    now: number,
  ): Promise<DocumentResult[]> {
    let folder = await ensureFolder?.();
    return writeEach<NewDocument, CurrentAndStored<Document>, DocumentResult>({
      table: this.#table,
      items: documents,
      read: async (items) => {
        const states = await new DocumentReader(this.#table).find(
          scope,
          items.map(({ documentId }) => documentId),
        );
        // The deletion that removed a document can also have removed the folder.
        if (states.some(({ current, stored }) => stored && !current)) folder = await ensureFolder?.();
        return states;
      },
      decide: ({ documentId, documentName, accessType: ownAccess = accessType, metadata }, { current, stored }) => {
        if (current)
          return { result: failedDocument(documentId, 'Document already exists', 'already-exists'), ops: [] };
        const document: Document = {
          documentId,
          internalId: newId('doc', now),
          documentName,
          metadata,
          accessType: ownAccess,
          folder: folderReference(folder),
          disabled: false,
          createdAt: now,
          lastUpdated: now,
        };
        const item = { ...scope, ...document };
        return {
          result: { success: true, id: document.internalId, message: 'Added Successfully' },
          ops: [insertOrReplace(DocumentEntity, item, stored, now), ...folderEntryWrite(scope, document)],
        };
      },
      conflicted: ({ documentId }) => failedDocument(documentId, BUSY, 'internal'),
    });
  }

  /**
   * Without `create`, throws NOT_FOUND for a missing document, and FAILED_PRECONDITION for one that a migration still
   * fills. Otherwise creates it, also if another request deletes it meanwhile.
   */
  async ensure(
    scope: OrganizationScope,
    documentId: string,
    create: { accessType: AccessType } | undefined,
    now: number,
  ): Promise<Document> {
    const documents = new DocumentReader(this.#table);
    if (!create) return documents.require(scope, documentId);
    return retryOnConflict(async () => {
      await this.add(scope, [{ documentId }], create, now);
      return (await documents.get(scope, documentId)) ?? 'conflict';
    });
  }
}

export function folderReference(folder: Folder | undefined): Document['folder'] {
  return folder && { folderId: folder.folderId, internalId: folder.internalId };
}

export function folderEntryWrite(scope: OrganizationScope, { folder, documentId, internalId }: Document): WriteOp[] {
  if (!folder) return [];
  const entry = { folderKey: folder.internalId, kind: 'document', id: documentId, internalId } as const;
  return [insert(FolderEntryEntity, { ...scope, ...entry })];
}

export function folderEntryRemoval(scope: OrganizationScope, { folder, documentId }: Document): WriteOp[] {
  if (!folder) return [];
  return [remove(FolderEntryEntity, { ...scope, folderKey: folder.internalId, kind: 'document', id: documentId })];
}

export const readDocuments = /* @__PURE__ */ storeCapability(DocumentReader, [
  readFolders,
  'GetItem',
  'BatchGetItem',
  'Query',
]);

export const writeDocuments = /* @__PURE__ */ storeCapability(DocumentWriter, [readDocuments, 'PutItem']);
