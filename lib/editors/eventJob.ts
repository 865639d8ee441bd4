import * as z from 'zod';
import type { DocumentContext } from '../content/documentScope.ts';
import { type JobMessage, startJob } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import type { WriteOp } from '../table/table.ts';
import type { Editor, EditorUpdate } from './entities.ts';

/** An event job reports the changes of an editor in one event. It runs this many milliseconds after the first change. */
export const DEBOUNCE_MS = 5_000;
/** If the queue message of the job was lost, the sweep starts the job this many milliseconds after it was due. */
const MARGIN_MS = 30_000;
/** If a job has written no event after this many milliseconds, it counts as lost. The next change starts a new job. */
const LOST_MS = 60 * 60_000;

/** The data of an event job. */
export const EventJobData = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
  documentKey: z.string(),
  documentId: z.string(),
  internalId: z.string(),
  editorId: z.string(),
});
export type EventJobData = z.output<typeof EventJobData>;

/** Returns whether a pending event job will report the next change after this update. */
export function hasEventJob({ eventJobStartedAt }: EditorUpdate, now: number): boolean {
  return eventJobStartedAt !== undefined && now < eventJobStartedAt + LOST_MS;
}

/**
 * Returns the operation that starts an editor's event job, and the queue message to send after the transaction. Put the
 * operation into the transaction of the change.
 */
export function startEventJob(
  { scope: { tenant, organizationKey, documentKey }, organization, document }: DocumentContext,
  { editorId, internalId }: Editor,
  now: number,
): { op: WriteOp; message: JobMessage } {
  const { organizationId } = organization;
  const { documentId } = document;
  const data: EventJobData = { organizationKey, organizationId, documentKey, documentId, internalId, editorId };
  const jobId = newId('job', now);
  const job = { jobId, kind: 'emitEditorUpdate', data, dueAt: now + DEBOUNCE_MS + MARGIN_MS } as const;
  return { message: { tenant, jobId }, op: startJob(tenant, job, now) };
}
