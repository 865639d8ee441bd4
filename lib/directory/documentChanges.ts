import { type AccessType, folderChain } from './rules/access.ts';
import { mergeMetadata } from '../shared/metadata.ts';
import { ApiError } from '../shared/errors.ts';
import { type DocumentResult, failedDocument } from '../shared/results.ts';
import { type Document, DocumentEntity, DocumentReader } from './documents.ts';
import type { Stored } from '../table/entity.ts';
import { crossings } from './folders/folderDepartures.ts';
import { type Folder, FolderEntryEntity, type OrganizationScope } from './folders/folders.ts';
import type { JobMessage } from '../jobs/jobStore.ts';
import { removeDocumentsJob } from '../deletion/startPurge.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

const ABSENT = 'Document does not exist';
const DISABLED = 'The document is disabled';
const BUSY = 'Document is being changed by another request.';

/** What is to change of a document; what is left out stays. */
export interface DocumentUpdate {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  /** Replaces the stored metadata; the call can say that it is merged into them. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface AccessUpdated {
  readonly success: boolean;
  readonly accessType: AccessType | null;
  readonly message: string;
}

export interface StateUpdated {
  readonly success: boolean;
  readonly disabled: boolean | null;
  readonly message: string;
}

/** What became of each of some documents, and the jobs that remove what lay in those that are gone. */
export interface DocumentsRemoved {
  readonly results: readonly DocumentResult[];
  readonly jobs: readonly JobMessage[];
}

/** Changes documents that are there. */
export class DocumentChanger extends DocumentReader {
  /**
   * Changes names and metadata. Metadata that are sent replace the stored ones or, with `merge`, the stored fields of their names. Ids are distinct; a
   * document that does not exist, is disabled, or whose metadata would be too large, fails alone.
   */
  async update(
    scope: OrganizationScope,
    updates: readonly DocumentUpdate[],
    { merge }: { merge: boolean },
    now: number,
  ): Promise<DocumentResult[]> {
    return this.#each(
      scope,
      updates,
      idOfUpdate,
      refusedDocument(idOfUpdate),
      (stored, { documentId, documentName = stored.documentName, metadata }) => {
        if (stored.disabled) return { result: failedDocument(documentId, DISABLED, 'internal'), ops: [] };
        const merged = mergeMetadata(merge || !metadata ? stored.metadata : undefined, metadata ?? {});
        if ('refused' in merged) return { result: failedDocument(documentId, merged.refused, 'internal'), ops: [] };
        return {
          result: { success: true, id: stored.internalId, message: 'Updated Successfully' },
          ops: changeOps(scope, stored, { documentName, ...merged }, now),
        };
      },
    );
  }

  /** Sets the documents' own access type. Ids are distinct; one that does not exist or is disabled fails alone. */
  async updateAccess(
    scope: OrganizationScope,
    documentIds: readonly string[],
    accessType: AccessType,
    now: number,
  ): Promise<AccessUpdated[]> {
    const refused = (_documentId: string, message: string): AccessUpdated => ({
      success: false,
      accessType: null,
      message,
    });
    return this.#each(
      scope,
      documentIds,
      (documentId) => documentId,
      refused,
      (stored, documentId) => {
        if (stored.disabled) return { result: refused(documentId, DISABLED), ops: [] };
        return {
          result: { success: true, accessType, message: 'Document access type updated.' },
          ops: changeOps(scope, stored, { accessType }, now),
        };
      },
    );
  }

  /** Disables documents, or enables them. Ids are distinct; one that does not exist fails alone. */
  async disable(
    scope: OrganizationScope,
    documentIds: readonly string[],
    disabled: boolean,
    now: number,
  ): Promise<StateUpdated[]> {
    const refused = (_documentId: string, message: string): StateUpdated => ({
      success: false,
      disabled: null,
      message,
    });
    return this.#each(
      scope,
      documentIds,
      (documentId) => documentId,
      refused,
      (stored) => ({
        result: { success: true, disabled, message: 'Document disabled state updated.' },
        ops: changeOps(scope, stored, { disabled }, now),
      }),
    );
  }

  /**
   * Puts documents into a folder, or at the top: all of them or none. At most 30, with distinct ids. NOT_FOUND when one does not exist,
   * FAILED_PRECONDITION when one is disabled, with their places in the list in `details.issues`.
   */
  async move(
    scope: OrganizationScope,
    documentIds: readonly string[],
    folder: Folder | undefined,
    now: number,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const documents = await this.named(scope, documentIds);
      refuse(
        'NOT_FOUND',
        ABSENT,
        'does_not_exist',
        documents.map((document) => document === undefined),
      );
      refuse(
        'FAILED_PRECONDITION',
        DISABLED,
        'disabled',
        documents.map((document) => document?.disabled === true),
      );
      const present = documents.filter((document) => document !== undefined);
      const ops = present.flatMap((document) => moveOps(scope, document, folder, now));
      const crossed = ops.length > 0 ? await this.#crossings(scope, present, folder, now) : [];
      return (await this.table.write([...ops, ...crossed])) === 'done' ? 'done' : 'conflict';
    });
  }

  /** Removes documents: what lies in them is gone with them, and removed by jobs, one for each transaction. Ids are distinct; one that does not exist fails alone. */
  async remove(scope: OrganizationScope, documentIds: readonly string[], now: number): Promise<DocumentsRemoved> {
    const jobs: JobMessage[] = [];
    const results = await this.#each(
      scope,
      documentIds,
      (documentId) => documentId,
      refusedDocument((documentId) => documentId),
      (stored) => ({
        result: { success: true, id: stored.internalId, message: 'Deleted Successfully' },
        ops: [remove(DocumentEntity, { ...scope, ...stored }, stored._r), ...entryRemoval(scope, stored)],
      }),
      (removed) => {
        const { op, jobId } = removeDocumentsJob(
          scope,
          removed.map(({ item, result }) => ({ documentId: item, internalId: result.id })),
          now,
        );
        return { ops: [op], written: () => void jobs.push({ tenant: scope.tenant, jobId }) };
      },
    );
    return { results, jobs };
  }

  /** What is to be written down of a move while users are being removed from folders. */
  async #crossings(
    scope: OrganizationScope,
    documents: readonly Stored<Document>[],
    folder: Folder | undefined,
    now: number,
  ): Promise<WriteOp[]> {
    if (!scope.leavingFolders) return [];
    const placed = await this.placed(scope, documents);
    const to = folder ? folderChain(folder) : [];
    return crossings(
      this.table,
      scope,
      placed.flatMap((document) =>
        document
          ? [{ internalId: document.internalId, from: document.folder ? folderChain(document.folder) : [], to }]
          : [],
      ),
      now,
    );
  }

  async #each<I, R>(
    scope: OrganizationScope,
    items: readonly I[],
    idOf: (item: I) => string,
    refused: (item: I, message: string, code: 'not-found' | 'internal') => R,
    rule: (stored: Stored<Document>, item: I) => Decision<R>,
    together?: Parameters<typeof writeEach<I, Stored<Document> | undefined, R>>[0]['together'],
  ): Promise<R[]> {
    return writeEach<I, Stored<Document> | undefined, R>({
      table: this.table,
      items,
      read: (some) => this.named(scope, some.map(idOf)),
      decide: (item, stored) => (stored ? rule(stored, item) : { result: refused(item, ABSENT, 'not-found'), ops: [] }),
      conflicted: (item) => refused(item, BUSY, 'internal'),
      ...(together && { together }),
    });
  }
}

function idOfUpdate({ documentId }: DocumentUpdate): string {
  return documentId;
}

/** How an item of a call about documents fails. */
function refusedDocument<I>(idOf: (item: I) => string) {
  return (item: I, message: string, code: 'not-found' | 'internal'): DocumentResult =>
    failedDocument(idOf(item), message, code);
}

/** The operation that changes a document, unless nothing differs. */
function changeOps(
  scope: OrganizationScope,
  stored: Stored<Document>,
  changes: Partial<Document>,
  now: number,
): WriteOp[] {
  const unchanged = Object.entries(changes).every(([field, value]) => stored[field as keyof Document] === value);
  return unchanged ? [] : [replace(DocumentEntity, { ...scope, ...stored, ...changes, lastUpdated: now }, stored._r)];
}

function moveOps(
  scope: OrganizationScope,
  document: Stored<Document>,
  folder: Folder | undefined,
  now: number,
): WriteOp[] {
  if (document.folder?.internalId === folder?.internalId) return [];
  const { documentId, internalId } = document;
  const lies = folder && { folderId: folder.folderId, internalId: folder.internalId };
  return [
    replace(DocumentEntity, { ...scope, ...document, folder: lies, lastUpdated: now }, document._r),
    ...entryRemoval(scope, document),
    ...(lies
      ? [
          insert(FolderEntryEntity, {
            ...scope,
            folderKey: lies.internalId,
            kind: 'document',
            id: documentId,
            internalId,
          }),
        ]
      : []),
  ];
}

function entryRemoval(scope: OrganizationScope, { folder, documentId }: Document): WriteOp[] {
  return folder
    ? [remove(FolderEntryEntity, { ...scope, folderKey: folder.internalId, kind: 'document', id: documentId })]
    : [];
}

/** Throws for the documents of a call that something is wrong with. */
function refuse(
  status: 'NOT_FOUND' | 'FAILED_PRECONDITION',
  message: string,
  code: string,
  wrong: readonly boolean[],
): void {
  const issues = wrong.flatMap((is, index) =>
    is ? [{ path: ['documentIds', index], code, message: `documentIds[${index}]: ${message}` }] : [],
  );
  if (issues.length > 0) throw new ApiError(status, message, { details: { issues } });
}

/** Change documents that are there. */
export const changeDocuments = /* @__PURE__ */ storeCapability(DocumentChanger, [
  'BatchGetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
