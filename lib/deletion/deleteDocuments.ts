import { type Capability, combine } from '../app/capability.ts';
import {
  ABSENT,
  BUSY,
  DocumentEntity,
  DocumentReader,
  folderEntryRemoval,
  isMigrating,
  MIGRATES,
  refuseMigrating,
} from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { type JobMessage, notifyJobs } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import { type DocumentResult, failedDocument } from '../shared/results.ts';
import { tableWith } from '../table/storeCapability.ts';
import { remove } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import * as sendTo from '../workers/sendTo.ts';
import { PURGE_DELAY_SECONDS, startPurge } from './startPurge.ts';

/**
 * Jobs then purge the content. Ids must be distinct. Throws FAILED_PRECONDITION if one of the documents is being
 * migrated at the start of the call. Otherwise a document that cannot be deleted fails in its own result only.
 */
type DeleteDocuments = (
  scope: OrganizationScope,
  documentIds: readonly string[],
  call: { readonly now: number; readonly log: Log },
) => Promise<DocumentResult[]>;

export const deleteDocuments: Capability<DeleteDocuments> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'Query', 'PutItem', 'DeleteItem']), queue: sendTo.jobs },
  ({ table, queue }) =>
    async (scope, documentIds, { now, log }) => {
      const { tenant, organizationKey } = scope;
      const documents = new DocumentReader(table);
      const jobs: JobMessage[] = [];
      const deleted = writeEach({
        table,
        items: documentIds,
        read: async (ids, attempt) => {
          const stored = await documents.getByIds(scope, ids);
          if (attempt === 1) refuseMigrating(stored);
          return stored;
        },
        decide: (documentId, stored) => {
          if (!stored) return { result: failedDocument(documentId, ABSENT, 'not-found'), ops: [] };
          if (isMigrating(stored)) return { result: failedDocument(documentId, MIGRATES, 'internal'), ops: [] };
          const result: DocumentResult = { success: true, id: stored.internalId, message: 'Deleted Successfully' };
          return {
            result,
            ops: [remove(DocumentEntity, { ...scope, ...stored }, stored._r), ...folderEntryRemoval(scope, stored)],
          };
        },
        addToTransaction: (changing) => {
          const purged = changing.map(({ item, result }) => ({ documentId: item, internalId: result.id }));
          const { op, jobId } = startPurge(tenant, 'purgeDocuments', { organizationKey, documents: purged }, now);
          return { ops: [op], onWritten: () => void jobs.push({ tenant, jobId }) };
        },
        conflicted: (documentId) => failedDocument(documentId, BUSY, 'internal'),
      });
      // oxlint-disable-next-line typescript/no-misused-promises -- `finally` waits for the promise
      return deleted.finally(() => notifyJobs(queue, jobs, log, PURGE_DELAY_SECONDS));
    },
);
