import { newId } from '../shared/ids.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { QueueMessage } from '../workers/sender.ts';
import { beginJob, type JobKind, jobMessage, type JobMessage, READS_SETTLED_MS } from '../jobs/jobStore.ts';
import type { WriteOp } from '../table/table.ts';

/** A document that is gone. */
export interface RemovedDocument {
  readonly internalId: string;
  /** The customer's id. */
  readonly documentId: string;
}

/** The data of a job that removes what lies in documents. */
export interface DocumentsRemoval {
  /** Internal id. */
  readonly organizationKey: string;
  readonly documents: readonly RemovedDocument[];
}

/** The data of a job that removes what lies beneath an organization. */
export interface OrganizationRemoval {
  /** Internal id. */
  readonly organizationKey: string;
}

/** A removal that begins with a transaction. */
export interface Removal {
  /** For that transaction. */
  readonly op: WriteOp;
  readonly jobId: string;
}

/** When the sweeper begins a removal whose message was lost: later than the message. */
const TIME_TO_BEGIN = READS_SETTLED_MS + 30_000;

/**
 * Begins the removal of what lies in documents, with the transaction that removes the documents themselves. Whoever writes it sends the message of
 * `removalMessage` after that.
 */
export function removeDocumentsJob(
  scope: OrganizationScope,
  documents: readonly RemovedDocument[],
  now: number,
): Removal {
  const named = documents.map(({ internalId, documentId }) => ({ internalId, documentId }));
  return begin(
    scope.tenant,
    'removeDocuments',
    { organizationKey: scope.organizationKey, documents: named } satisfies DocumentsRemoval,
    now,
  );
}

/** The same for what lies beneath an organization. */
export function removeOrganizationJob({ tenant, organizationKey }: OrganizationScope, now: number): Removal {
  return begin(tenant, 'removeOrganization', { organizationKey } satisfies OrganizationRemoval, now);
}

function begin(tenant: string, kind: JobKind, data: object, now: number): Removal {
  const jobId = newId('job', now);
  return { jobId, op: beginJob(tenant, { jobId, kind, data, dueAt: now + TIME_TO_BEGIN }, now) };
}

/** The message of a removal, which comes when there is something to do for it. */
export function removalMessage(job: JobMessage): QueueMessage {
  return jobMessage(job, READS_SETTLED_MS / 1000);
}
