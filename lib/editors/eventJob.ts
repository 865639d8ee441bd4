import * as z from 'zod';
import type { DocumentContext } from '../content/documentScope.ts';
import { startJob, type JobMessage } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import type { WriteOp } from '../table/table.ts';
import type { Editor, EditorUpdate } from './entities.ts';

/** How long an event job waits after the first change, in milliseconds. Its event reports all changes up to then. */
export const DEBOUNCE_MS = 5_000;
/** The additional time in milliseconds after which the sweep starts the job, if its queue message was lost. */
const MARGIN_MS = 30_000;
/** The time in milliseconds after which a job without an event counts as lost. The next change then starts a new job. */
const LOST_MS = 60 * 60_000;

/** The data of the job that emits the event about an editor's changes. */
export const EventJobData = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
  documentKey: z.string(),
  documentId: z.string(),
  internalId: z.string(),
  editorId: z.string(),
});
export type EventJobData = z.output<typeof EventJobData>;

/** Returns whether a started job will report a change that follows this update. */
export function hasEventJob({ eventJobStartedAt }: EditorUpdate, now: number): boolean {
  return eventJobStartedAt !== undefined && now < eventJobStartedAt + LOST_MS;
}

/**
 * Returns the operation that starts the event job of an editor, and the queue message to send afterwards. The operation belongs
 * in the transaction of the first change. Updates have `eventJobStartedAt` until the job writes an update without it.
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
