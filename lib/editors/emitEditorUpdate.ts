import { openDocument } from './rules/yjs/document.ts';
import { readValue } from './rules/yjs/readValue.ts';
import { editorRecord } from './rules/editors.ts';
import { editorUpdatePayload } from '../events/rules/crdt.ts';
import type { ContentNames } from '../content/rules/names.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { emit } from '../events/outbox.ts';
import { endJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { pause } from '../table/retryOnConflict.ts';
import { insert, type Table, itemOf, type WriteOp } from '../table/table.ts';
import type { EditorState } from './editorState.ts';
import { type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { EditorReader } from './editorReader.ts';
import { DEBOUNCE_MS, Telling } from './debounce.ts';
import { logWeight } from './logWeight.ts';

const TRIES = 20;
/** The pauses between tries grow no further from here on. */
const LONGEST_PAUSE_AFTER = 4;

/**
 * The step of a job that tells of an editor's changes, 5 s after the first of them, by one `crdt.update_data` with the editor as it is
 * then. The event is written together with an update that changes nothing, under the version after the last one that it tells of: a change
 * that comes in between makes it begin anew, and one that comes after begins the next job. So each change is in an event, and none is told twice.
 */
export async function emitEditorUpdateStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const about = Telling.parse(JSON.parse(job.data));
  const { tenant } = job;
  const { organizationKey, documentKey, editorId } = about;
  const due = job.createdAt + DEBOUNCE_MS;
  if (clock() < due) return { progress: {}, notBefore: due };
  const scope = { tenant, organizationKey, documentKey };
  const reader = new EditorReader(table);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (attempt > 0) await pause(Math.min(attempt - 1, LONGEST_PAUSE_AFTER));
    const [names, state] = await Promise.all([namesOf(table, tenant, about), reader.find(scope, editorId)]);
    // What is gone is nobody's business, and what others have told of is told.
    if (!names || state?.head.internalId !== about.internalId || state.newest.tellingSince === undefined) return 'done';
    const told: EditorUpdate = {
      ...said(state.newest),
      version: state.newest.version + 1,
      at: clock(),
      weight: state.newest.weight + logWeight(undefined),
    };
    const outcome = await table.write([
      insert(EditorUpdateEntity, { ...scope, editorId, ...told }),
      ...eventOf(names, state, clock()),
      endJob(tenant, job.jobId, job._r),
    ]);
    if (outcome === 'done') return 'done';
  }
  return { progress: {}, notBefore: clock() + DEBOUNCE_MS };
}

/** What an update says of the last change. */
function said({ internalId, changedAt, changedBy, sessionId }: EditorUpdate) {
  return { internalId, changedAt, changedBy, sessionId };
}

function eventOf(names: ContentNames, { head, newest, updates }: EditorState, now: number): WriteOp[] {
  const record = editorRecord(head.editorId, readValue(openDocument(updates), head.type, head.contentKey), newest);
  return emit(
    names.apiKey,
    {
      event: 'crdt.update_data',
      cause: { type: 'Editor', id: head.internalId, revision: newest.version },
      organizationId: names.organization.organizationId,
      documentId: names.document.documentId,
      payload: editorUpdatePayload(names, record),
    },
    now,
  );
}

/** Organization and document as they are named now; undefined when they are gone, even if there are others under the same ids. */
async function namesOf(
  table: Table,
  tenant: string,
  { organizationKey: organizationInternal, organizationId, documentKey: documentInternal, documentId }: Telling,
): Promise<ContentNames | undefined> {
  const [organization, document] = await table.batchGet(
    itemOf(OrganizationEntity, { tenant, organizationId }),
    itemOf(DocumentEntity, { tenant, organizationKey: organizationInternal, documentId }),
  );
  if (organization?.internalId !== organizationInternal || document?.internalId !== documentInternal) return undefined;
  return { apiKey: tenant, organization, document };
}
