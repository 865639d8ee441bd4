import * as z from 'zod';
import type { Capability } from '../capability.ts';
import { type AccessType, accessTypes } from '../domain/access.ts';
import { ApiError } from '../errors.ts';
import { newId } from '../ids.ts';
import { defineEntity, type Stored } from './entity.ts';
import { type Folder, FolderEntity, FolderEntryEntity, type Place } from './folders.ts';
import type { Added } from './organizations.ts';
import { insert, openTable, type Page, replace, type Table } from './table.ts';
import { writeEach } from './writeEach.ts';

const Schema = z.object({
  documentId: z.string(),
  internalId: z.string(),
  documentName: z.string().optional(),
  /** Its own access type; a document in a folder has the folder's instead. */
  accessType: z.enum(accessTypes),
  /** The folder that it lies in, and nothing of that folder's ancestors: moving a folder rewrites no documents. */
  folder: z.object({ folderId: z.string(), internalId: z.string() }).optional(),
  disabled: z.boolean(),
  /** The caller's own fields, as JSON text. */
  metadata: z.string().optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Document = z.output<typeof Schema>;

export const DocumentEntity = defineEntity({
  type: 'Document',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A document under the customer\'s id, with its internal id and folder',
  schema: Schema,
  pk: (of: { tenant: string; organization: string }) => [of.tenant, 'ORGANIZATION', of.organization, 'DOCUMENTS'],
  sk: (key: { documentId: string }) => [key.documentId],
});

export interface NewDocument {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  readonly metadata?: string | undefined;
}

/** A document with the whole of the folder that it lies in. */
export type PlacedDocument = Omit<Stored<Document>, 'folder'> & { readonly folder: Stored<Folder> | undefined };

export interface AccessUpdated {
  readonly success: boolean;
  readonly accessType: AccessType | null;
  readonly message: string;
}

export class DocumentReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The documents under the customer's ids, undefined where there is none. */
  async named(place: Place, documentIds: readonly string[]): Promise<(Stored<Document> | undefined)[]> {
    return this.table.getMany(DocumentEntity, documentIds.map((documentId) => ({ ...place, documentId })));
  }

  /** The document under the customer's id. NOT_FOUND when there is none. */
  async require(place: Place, documentId: string): Promise<Stored<Document>> {
    const document = await this.table.get(DocumentEntity, { ...place, documentId });
    if (!document) throw new ApiError('NOT_FOUND', 'Document does not exist');
    return document;
  }

  /** A page of an organization's documents, by id. */
  async list(place: Place, options: { limit: number; after?: string | undefined }): Promise<Page<PlacedDocument>> {
    const page = await this.table.query(DocumentEntity, place, options);
    return { values: (await this.placed(place, page.values)).filter((document) => document !== undefined), next: page.next };
  }

  /** A page of the documents that lie directly in a folder, by id. */
  async listInFolder(place: Place, folder: Stored<Folder>, options: { limit: number; after?: string | undefined }): Promise<Page<PlacedDocument>> {
    const entries = await this.table.query(FolderEntryEntity, { ...place, folder: folder.internalId }, { ...options, prefix: ['document'] });
    const documents = await this.named(place, entries.values.map(({ id }) => id));
    return { values: documents.flatMap((document) => (document?.folder?.internalId === folder.internalId ? [{ ...document, folder }] : [])), next: entries.next };
  }

  /**
   * The documents, each with the folder that it lies in: one more read when any lies in one. A document whose folder is
   * gone is gone too, and undefined like those that were never there.
   */
  async placed(place: Place, documents: readonly (Stored<Document> | undefined)[]): Promise<(PlacedDocument | undefined)[]> {
    const folders = await this.table.getMany(FolderEntity, documents.flatMap((document) => (document?.folder ? [{ ...place, folderId: document.folder.folderId }] : [])));
    const byInternalId = new Map(folders.flatMap((folder) => (folder ? [[folder.internalId, folder] as const] : [])));
    return documents.map((document) => {
      if (!document?.folder) return document && { ...document, folder: undefined };
      const folder = byInternalId.get(document.folder.internalId);
      return folder && { ...document, folder };
    });
  }
}

export class DocumentWriter extends DocumentReader {
  /**
   * Creates documents with an access type of their own, in a folder when one is given; one that exists is left as it is and
   * fails alone. Ids are distinct.
   */
  async add(place: Place, documents: readonly NewDocument[], { accessType, folder }: { accessType: AccessType; folder?: Folder | undefined }, now: number): Promise<Added[]> {
    return writeEach<NewDocument, Stored<Document> | undefined, Added>({
      table: this.table,
      items: documents,
      read: (items) => this.named(place, items.map(({ documentId }) => documentId)),
      decide: (item, stored) => {
        if (stored) return { result: { success: false, id: stored.internalId, message: 'Document already exists.' }, ops: [] };
        const internalId = newId('doc', now);
        const { documentId, documentName, metadata } = item;
        const lies = folder && { folderId: folder.folderId, internalId: folder.internalId };
        const document: Document = { documentId, internalId, documentName, metadata, accessType, folder: lies, disabled: false, createdAt: now, lastUpdated: now };
        const entry = lies && insert(FolderEntryEntity, { ...place, folder: lies.internalId, kind: 'document', id: documentId, internalId });
        return {
          result: { success: true, id: internalId, message: 'Added Successfully' },
          ops: [insert(DocumentEntity, { ...place, ...document }), ...(entry ? [entry] : [])],
        };
      },
      conflicted: () => ({ success: false, id: '', message: 'Document is being changed by another request.' }),
    });
  }

  /** The document under the customer's id, created when it is missing and `create` says what with; else NOT_FOUND. */
  async ensure(place: Place, documentId: string, create: { accessType: AccessType } | undefined, now: number): Promise<Document> {
    if (create) await this.add(place, [{ documentId }], create, now);
    return this.require(place, documentId);
  }

  /** Sets the documents' own access type. Ids are distinct; an unknown one fails alone. */
  async updateAccess(place: Place, documentIds: readonly string[], accessType: AccessType, now: number): Promise<AccessUpdated[]> {
    return writeEach<string, Stored<Document> | undefined, AccessUpdated>({
      table: this.table,
      items: documentIds,
      read: (items) => this.named(place, items),
      decide: (_documentId, stored) => {
        if (!stored) return { result: { success: false, accessType: null, message: 'Document does not exist' }, ops: [] };
        const updated = { success: true, accessType, message: 'Document access updated.' };
        if (stored.accessType === accessType) return { result: updated, ops: [] };
        return { result: updated, ops: [replace(DocumentEntity, { ...place, ...stored, accessType, lastUpdated: now }, stored._r)] };
      },
      conflicted: () => ({ success: false, accessType: null, message: 'Document is being changed by another request.' }),
    });
  }
}

export const readDocuments: Capability<DocumentReader> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new DocumentReader(openTable(env)),
};

export const writeDocuments: Capability<DocumentWriter> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new DocumentWriter(openTable(env)),
};
