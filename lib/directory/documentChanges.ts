import type { Capability } from '../app/capability.ts';
import type { AccessType } from '../app/rules/access.ts';
import { distinctBy, hasFields } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { mergeMetadata } from '../shared/metadata.ts';
import { type DocumentResult, failedDocument } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { replace, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  ABSENT,
  BUSY,
  DISABLED,
  type Document,
  DocumentEntity,
  DocumentReader,
  folderEntryRemoval,
  folderEntryWrite,
  folderReference,
  isMigrating,
  MIGRATES,
  refuseMigrating,
} from './documents.ts';
import { refuseDocumentMoves } from './folderBoundaries.ts';
import { requireNoRevocation } from './folders/folderRevocations.ts';
import type { Folder } from './folders/folders.ts';
import { OrganizationLock } from './organizationLock.ts';
import { findOrganization, type Organization } from './organizations.ts';
import type { OrganizationScope } from './organizationScope.ts';

const TRIES_WITHOUT_LOCK = 3;

export interface DocumentUpdate {
  readonly documentId: string;
  readonly documentName?: string | undefined;
  readonly accessType?: AccessType | undefined;
  /** Replaces all stored metadata, or with `merge` only the sent fields. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface AccessResult {
  readonly success: boolean;
  readonly accessType: AccessType | null;
  readonly message: string;
}

export interface DisabledResult {
  readonly success: boolean;
  readonly disabled: boolean | null;
  readonly message: string;
}

interface ChangeRule<I, R> {
  change(stored: Stored<Document>, item: I): Partial<Document> | { readonly refused: string };
  succeeded(stored: Stored<Document>): R;
  failed(documentId: string, message: string, code: 'not-found' | 'internal'): R;
}

export class DocumentChanger {
  readonly #table: Table;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#documents = new DocumentReader(table);
  }

  /**
   * Ids must be distinct. Throws FAILED_PRECONDITION if one of the documents is being migrated at the start of the call.
   * Otherwise a document that cannot be changed fails in its own result only.
   */
  async update(
    scope: OrganizationScope,
    updates: readonly DocumentUpdate[],
    { merge }: { merge: boolean },
    now: number,
  ): Promise<DocumentResult[]> {
    return this.#changeEach(scope, updates, now, {
      change(stored, { documentName = stored.documentName, accessType = stored.accessType, metadata }) {
        if (stored.disabled) return { refused: DISABLED };
        const merged = mergeMetadata(merge || !metadata ? stored.metadata : undefined, metadata ?? {});
        return 'refused' in merged ? merged : { documentName, accessType, ...merged };
      },
      succeeded: ({ internalId }) => ({ success: true, id: internalId, message: 'Updated Successfully' }),
      failed: failedDocument,
    });
  }

  async updateAccess(
    scope: OrganizationScope,
    documentIds: readonly string[],
    accessType: AccessType,
    now: number,
  ): Promise<AccessResult[]> {
    return this.#changeEach<WithDocumentId, AccessResult>(scope, documentIds.map(withDocumentId), now, {
      change: ({ disabled }) => (disabled ? { refused: DISABLED } : { accessType }),
      succeeded: () => ({ success: true, accessType, message: 'Document access type updated.' }),
      failed: (_documentId, message) => ({ success: false, accessType: null, message }),
    });
  }

  async disable(
    scope: OrganizationScope,
    documentIds: readonly string[],
    disabled: boolean,
    now: number,
  ): Promise<DisabledResult[]> {
    return this.#changeEach<WithDocumentId, DisabledResult>(scope, documentIds.map(withDocumentId), now, {
      change: () => ({ disabled }),
      succeeded: () => ({ success: true, disabled, message: 'Document disabled state updated.' }),
      failed: (_documentId, message) => ({ success: false, disabled: null, message }),
    });
  }

  /**
   * Moves at most 30 documents, all or none, into the folder that `findFolder` returns, or out of all folders. For
   * missing and disabled documents, `details.issues` of the error has the indexes in `documentIds`, which can contain
   * an id twice.
   */
  async move(
    tenant: string,
    organization: Stored<Organization>,
    documentIds: readonly string[],
    findFolder: (scope: OrganizationScope) => Promise<Folder | undefined>,
    now: number,
  ): Promise<void> {
    const lock = new OrganizationLock(this.#table, tenant, organization);
    let tries = 0;
    await retryOnConflict(async () => {
      const scope = await lock.scope();
      const folder = await findFolder(scope);
      const storedDocuments = await this.#documents.getByIds(scope, documentIds);
      refuseMigrating(storedDocuments);
      rejectIf(storedDocuments, (document) => document === undefined, 'NOT_FOUND', 'does_not_exist', ABSENT);
      rejectIf(storedDocuments, (document) => document?.disabled === true, 'FAILED_PRECONDITION', 'disabled', DISABLED);
      const documents = distinctBy(
        storedDocuments.filter((document) => document !== undefined),
        ({ internalId }) => internalId,
      );
      const ops = documents.flatMap((document) => moveOps(scope, document, folder, now));
      if (ops.length === 0) return 'done';
      tries += 1;
      // Moves can run in parallel without the lock. The lock helps if a job of an older version left the item that
      // `requireNoRevocation` forbids.
      if (!scope.hasFolderRevocations && tries <= TRIES_WITHOUT_LOCK)
        return lock.tryWrite([...ops, requireNoRevocation(scope)]);
      const before = await this.#documents.attachFolders(scope, documents);
      await refuseDocumentMoves(this.#table, scope, before, folder, now);
      return lock.write('folderRevocations', 0, ops);
    });
  }

  async #changeEach<I extends WithDocumentId, R>(
    scope: OrganizationScope,
    items: readonly I[],
    now: number,
    rule: ChangeRule<I, R>,
  ): Promise<R[]> {
    return writeEach<I, Stored<Document> | undefined, R>({
      table: this.#table,
      items,
      read: async (unread, attempt) => {
        const documents = await this.#documents.getByIds(
          scope,
          unread.map(({ documentId }) => documentId),
        );
        if (attempt === 1) refuseMigrating(documents);
        return documents;
      },
      decide: (item, stored) => {
        if (!stored) return { result: rule.failed(item.documentId, ABSENT, 'not-found'), ops: [] };
        if (isMigrating(stored)) return { result: rule.failed(item.documentId, MIGRATES, 'internal'), ops: [] };
        const changes = rule.change(stored, item);
        if ('refused' in changes) return { result: rule.failed(item.documentId, changes.refused, 'internal'), ops: [] };
        return { result: rule.succeeded(stored), ops: changeOps(scope, stored, changes, now) };
      },
      conflicted: ({ documentId }) => rule.failed(documentId, BUSY, 'internal'),
    });
  }
}

interface WithDocumentId {
  readonly documentId: string;
}

function withDocumentId(documentId: string): WithDocumentId {
  return { documentId };
}

function changeOps(
  scope: OrganizationScope,
  stored: Stored<Document>,
  changes: Partial<Document>,
  now: number,
): WriteOp[] {
  return hasFields<Document>(stored, changes)
    ? []
    : [replace(DocumentEntity, { ...scope, ...stored, ...changes, lastUpdated: now }, stored._r)];
}

function moveOps(
  scope: OrganizationScope,
  document: Stored<Document>,
  folder: Folder | undefined,
  now: number,
): WriteOp[] {
  if (document.folder?.internalId === folder?.internalId) return [];
  const moved = { ...document, folder: folderReference(folder), movedAt: now, lastUpdated: now };
  return [
    replace(DocumentEntity, { ...scope, ...moved }, document._r),
    ...folderEntryRemoval(scope, document),
    ...folderEntryWrite(scope, moved),
  ];
}

function rejectIf<T>(
  items: readonly T[],
  isWrong: (item: T) => boolean,
  status: 'NOT_FOUND' | 'FAILED_PRECONDITION',
  code: string,
  message: string,
): void {
  const issues = items.flatMap((item, index) =>
    isWrong(item) ? [{ path: ['documentIds', index], code, message: `documentIds[${index}]: ${message}` }] : [],
  );
  if (issues.length > 0) throw new ApiError(status, message, { details: { issues } });
}

export const changeDocuments: Capability<Pick<DocumentChanger, 'update' | 'updateAccess' | 'disable'>> =
  /* @__PURE__ */ storeCapability(DocumentChanger, ['BatchGetItem', 'Query', 'PutItem']);

export const moveDocuments: Capability<Pick<DocumentChanger, 'move'>> = /* @__PURE__ */ storeCapability(
  DocumentChanger,
  [findOrganization, 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
);
