import type { ContentNames } from '../content/rules/eventMetadata.ts';
import { DocumentEntity } from '../directory/documents.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { findRenamed } from '../directory/renamedDocuments.ts';
import { emit } from '../events/outbox.ts';
import { endJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { Retries } from '../table/retryOnConflict.ts';
import { insert, itemOf, type Table, type WriteOp } from '../table/table.ts';
import { entryBytes } from './compaction.ts';
import { EditorReader } from './editorReader.ts';
import { recordOf } from './editorRecords.ts';
import type { EditorState } from './editorState.ts';
import { type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { DEBOUNCE_MS, EventJobData } from './eventJob.ts';
import { editorUpdatePayload } from './rules/editorUpdatePayload.ts';

/**
 * The transaction of the event also inserts an update without a change. If a concurrent change takes the version of
 * that update, the step reads again. A later change starts another job, so it is in a later event.
 */
export async function emitEditorUpdateStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const data = EventJobData.parse(JSON.parse(job.data));
  const { tenant, jobId, _r: revision } = job;
  const { organizationKey, documentKey, editorId } = data;
  const due = job.createdAt + DEBOUNCE_MS;
  if (clock() < due) return { progress: {}, notBefore: due };
  const scope = { tenant, organizationKey, documentKey };
  const reader = new EditorReader(table);
  const retries = new Retries();
  do {
    const [names, state] = await Promise.all([findNames(table, tenant, data), reader.find(scope, editorId)]);
    const isDeleted = !names || state?.head.internalId !== data.internalId;
    if (isDeleted || state.newest.eventJobStartedAt === undefined) return 'done';
    const { internalId, changedAt, changedBy, sessionId, version, logBytes } = state.newest;
    const entry: EditorUpdate = {
      internalId,
      version: version + 1,
      at: clock(),
      changedAt,
      changedBy,
      sessionId,
      logBytes: logBytes + entryBytes(),
    };
    const outcome = await table.write([
      insert(EditorUpdateEntity, { ...scope, editorId, ...entry }),
      ...eventOps(names, state, clock()),
      endJob(tenant, jobId, revision),
    ]);
    if (outcome === 'done') return 'done';
  } while (await retries.next());
  return { progress: {}, notBefore: clock() + DEBOUNCE_MS };
}

function eventOps(names: ContentNames, state: EditorState, now: number): WriteOp[] {
  const event = {
    event: 'crdt.update_data',
    cause: { type: 'Editor', id: state.head.internalId, revision: state.newest.version },
    organizationId: names.organization.organizationId,
    documentId: names.document.documentId,
    payload: editorUpdatePayload(names, recordOf(state)),
  } as const;
  return emit(names.apiKey, event, now);
}

async function findNames(
  table: Table,
  tenant: string,
  { organizationKey, organizationId, documentKey, documentId }: EventJobData,
): Promise<ContentNames | undefined> {
  const [organization, named] = await table.batchGet(
    itemOf(OrganizationEntity, { tenant, organizationId }),
    itemOf(DocumentEntity, { tenant, organizationKey, documentId }),
  );
  if (organization?.internalId !== organizationKey) return undefined;
  const document = await findRenamed(table, { tenant, organizationKey, documentKey }, named);
  if (!document) return undefined;
  return { apiKey: tenant, organization, document };
}
