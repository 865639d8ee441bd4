import * as z from 'zod';
import { type AccessType, accessTypes } from './rules/access.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { type DocumentResult, failedDocument } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type Folder, FolderEntryEntity, FolderReader, type Found, type OrganizationScope } from './folders/folders.ts';
import { insert, type QueryPage, replace, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

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
  purpose: "A document under the customer's id, with its internal id and folder",
  schema: Schema,
  pk: (of: { tenant: string; organizationKey: string }) => [of.tenant, 'ORGANIZATION', of.organizationKey, 'DOCUMENTS'],
  sk: (key: { documentId: string }) => [key.documentId],
});

export interface NewDocument {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  readonly metadata?: string | undefined;
}

/** A document with the whole of the folder that it lies in. */
export type PlacedDocument = Omit<Stored<Document>, 'folder'> & { readonly folder: Stored<Folder> | undefined };

const ABSENT = 'Document does not exist';
const BUSY = 'Document is being changed by another request.';

export class DocumentReader {
  protected readonly table: Table;
  readonly #folders: FolderReader;

  constructor(table: Table) {
    this.table = table;
    this.#folders = new FolderReader(table);
  }

  /** The documents under the customer's ids, undefined where there is none. */
  async named(scope: OrganizationScope, documentIds: readonly string[]): Promise<(Stored<Document> | undefined)[]> {
    return (await this.find(scope, documentIds)).map(({ live }) => live);
  }

  /** The document under the customer's id. NOT_FOUND when there is none. */
  async require(scope: OrganizationScope, documentId: string): Promise<Stored<Document>> {
    const document = scope.changingFolders
      ? (await this.named(scope, [documentId]))[0]
      : await this.table.get(DocumentEntity, { ...scope, documentId });
    if (!document) throw new ApiError('NOT_FOUND', ABSENT);
    return document;
  }

  /** The same with what is stored. One BatchGet; while folders are being changed, their folders after it. */
  async find(scope: OrganizationScope, documentIds: readonly string[]): Promise<Found<Document>[]> {
    const documents = await this.table.getMany(
      DocumentEntity,
      documentIds.map((documentId) => ({ ...scope, documentId })),
    );
    if (!scope.changingFolders) return documents.map((stored) => ({ live: stored, stored }));
    const placed = await this.placed(scope, documents);
    return documents.map((stored, index) => ({ live: placed[index] && stored, stored }));
  }

  /** A page of an organization's documents, by id. */
  async list(
    scope: OrganizationScope,
    options: { limit: number; after?: string | undefined },
  ): Promise<QueryPage<PlacedDocument>> {
    const page = await this.table.query(DocumentEntity, scope, options);
    return {
      values: (await this.placed(scope, page.values)).filter((document) => document !== undefined),
      next: page.next,
    };
  }

  /** A page of the documents that lie directly in a folder, by id. */
  async listInFolder(
    scope: OrganizationScope,
    folder: Stored<Folder>,
    options: { limit: number; after?: string | undefined },
  ): Promise<QueryPage<PlacedDocument>> {
    const entries = await this.table.query(
      FolderEntryEntity,
      { ...scope, folderKey: folder.internalId },
      { ...options, prefix: ['document'] },
    );
    const documents = await this.named(
      scope,
      entries.values.map(({ id }) => id),
    );
    return {
      values: documents.flatMap((document) =>
        document?.folder?.internalId === folder.internalId ? [{ ...document, folder }] : [],
      ),
      next: entries.next,
    };
  }

  /**
   * The documents, each with the folder that it lies in: one more read when any lies in one. A document whose folder is
   * gone is gone too, and undefined like those that were never there.
   */
  async placed(
    scope: OrganizationScope,
    documents: readonly (Stored<Document> | undefined)[],
  ): Promise<(PlacedDocument | undefined)[]> {
    const folders = await this.#folders.named(
      scope,
      distinct(documents.flatMap((document) => document?.folder?.folderId ?? [])),
    );
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
  async add(
    scope: OrganizationScope,
    documents: readonly NewDocument[],
    { accessType, folder }: { accessType: AccessType; folder?: Folder | undefined },
    now: number,
  ): Promise<DocumentResult[]> {
    return writeEach<NewDocument, Found<Document>, DocumentResult>({
      table: this.table,
      items: documents,
      read: (items) =>
        this.find(
          scope,
          items.map(({ documentId }) => documentId),
        ),
      decide: (item, { live, stored }) => {
        if (live)
          return { result: failedDocument(item.documentId, 'Document already exists', 'already-exists'), ops: [] };
        const internalId = newId('doc', now);
        const { documentId, documentName, metadata } = item;
        const lies = folder && { folderId: folder.folderId, internalId: folder.internalId };
        const document: Document = {
          documentId,
          internalId,
          documentName,
          metadata,
          accessType,
          folder: lies,
          disabled: false,
          createdAt: now,
          lastUpdated: now,
        };
        const entry =
          lies &&
          insert(FolderEntryEntity, {
            ...scope,
            folderKey: lies.internalId,
            kind: 'document',
            id: documentId,
            internalId,
          });
        return {
          result: { success: true, id: internalId, message: 'Added Successfully' },
          ops: [
            stored
              ? replace(DocumentEntity, { ...scope, ...document }, stored._r)
              : insert(DocumentEntity, { ...scope, ...document }),
            ...(entry ? [entry] : []),
          ],
        };
      },
      conflicted: ({ documentId }) => failedDocument(documentId, BUSY, 'internal'),
    });
  }

  /** The document under the customer's id, created when it is missing and `create` says what with; else NOT_FOUND. */
  async ensure(
    scope: OrganizationScope,
    documentId: string,
    create: { accessType: AccessType } | undefined,
    now: number,
  ): Promise<Document> {
    if (create) await this.add(scope, [{ documentId }], create, now);
    return this.require(scope, documentId);
  }
}

export const readDocuments = /* @__PURE__ */ storeCapability(DocumentReader, ['GetItem', 'BatchGetItem', 'Query']);

export const writeDocuments = /* @__PURE__ */ storeCapability(DocumentWriter, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
