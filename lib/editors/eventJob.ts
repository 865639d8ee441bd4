import * as z from 'zod';
import type { DocumentContext } from '../content/documentScope.ts';
import type { ContentNames } from '../content/rules/eventMetadata.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { findRenamed } from '../directory/renamedDocuments.ts';
import { type JobMessage, startJob } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import { itemOf, type Table, type WriteOp } from '../table/table.ts';
import { ApiKeyConfigEntity } from '../workspaces/configs/apiKeyConfig.ts';
import type { EditorVersions } from '../workspaces/rules/apiKeyConfig.ts';
import type { EditorReader } from './editorReader.ts';
import type { EditorState } from './editorState.ts';
import type { Editor } from './entities.ts';

/** The least time from the first change to the event, which also has the changes in between. */
export const DEBOUNCE_MS = 5_000;
/** If the message of a job is lost, the sweep starts the job this long after it was due. */
const MARGIN_MS = 30_000;
/** After this time without a result, a job counts as lost. The next change starts a new one. */
const LOST_MS = 60 * 60_000;

export const EventJobData = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
  documentKey: z.string(),
  documentId: z.string(),
  internalId: z.string(),
  editorId: z.string(),
});
export type EventJobData = z.output<typeof EventJobData>;

/** `since` is when the job started or is due. Undefined: there is none. */
export function isJobPending(since: number | undefined, now: number): boolean {
  return since !== undefined && now < since + LOST_MS;
}

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

export interface EditorOfJob {
  readonly names: ContentNames;
  /** Of automatic versions. Undefined if they are switched off. */
  readonly settings: EditorVersions | undefined;
  readonly state: EditorState;
}

/** Undefined if the editor, its document or its organization was deleted. */
export async function readEditorOfJob(
  table: Table,
  editors: EditorReader,
  tenant: string,
  { organizationKey, organizationId, documentKey, documentId, internalId, editorId }: EventJobData,
): Promise<EditorOfJob | undefined> {
  const [[organization, named, config], state] = await Promise.all([
    table.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId }),
      itemOf(DocumentEntity, { tenant, organizationKey, documentId }),
      itemOf(ApiKeyConfigEntity, { tenant }),
    ),
    editors.find({ tenant, organizationKey, documentKey }, editorId),
  ]);
  if (organization?.internalId !== organizationKey || state?.head.internalId !== internalId) return undefined;
  const document = await findRenamed(table, { tenant, organizationKey, documentKey }, named);
  if (!document) return undefined;
  return { names: { apiKey: tenant, organization, document }, settings: config?.editorVersions ?? undefined, state };
}
