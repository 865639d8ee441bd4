import * as z from 'zod';
import { newId } from '../shared/ids.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { beginJob, type JobMessage } from '../jobs/jobStore.ts';
import type { WriteOp } from '../table/table.ts';
import type { Editor, EditorUpdate } from './entities.ts';

/** How long changes are gathered before one event tells of them. */
export const DEBOUNCE_MS = 5_000;
/** How much later the sweeper begins the job, when its message was lost. */
const MARGIN_MS = 30_000;
/** A job that has not told anything for so long is lost; another one is begun. */
const LOST_MS = 60 * 60_000;

/** What a job is about that tells of the changes of an editor: internal ids, and those of the customer. */
export const Telling = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
  documentKey: z.string(),
  documentId: z.string(),
  internalId: z.string(),
  editorId: z.string(),
});
export type Telling = z.output<typeof Telling>;

/** Whether a change after this one is in an event that is to come. */
export function isBeingTold({ tellingSince }: EditorUpdate, now: number): boolean {
  return tellingSince !== undefined && now < tellingSince + LOST_MS;
}

/**
 * The operation that begins the job which tells of an editor's changes, for the transaction of the first of them, and the job's message. The
 * update says that it began one, and those after it that it did; the job ends by an update that says no more.
 */
export function beginTelling(
  { scope: scope, organization, document }: DocumentContext,
  { editorId, internalId }: Editor,
  now: number,
): { op: WriteOp; message: JobMessage } {
  const message = { tenant: scope.tenant, jobId: newId('job', now) };
  const data: Telling = {
    organizationKey: scope.organizationKey,
    organizationId: organization.organizationId,
    documentKey: scope.documentKey,
    documentId: document.documentId,
    internalId,
    editorId,
  };
  return {
    message,
    op: beginJob(
      scope.tenant,
      { jobId: message.jobId, kind: 'emitEditorUpdate', data, dueAt: now + DEBOUNCE_MS + MARGIN_MS },
      now,
    ),
  };
}
