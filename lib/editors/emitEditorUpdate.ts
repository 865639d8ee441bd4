import type { ContentNames } from '../content/rules/eventMetadata.ts';
import { emit } from '../events/outbox.ts';
import { endJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { Retries } from '../table/retryOnConflict.ts';
import { insert, type Table, type WriteOp } from '../table/table.ts';
import { unchangedUpdate } from './editorLog.ts';
import { EditorReader } from './editorReader.ts';
import { recordOf } from './editorRecords.ts';
import type { EditorState } from './editorState.ts';
import { type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { DEBOUNCE_MS, EventJobData, readEditorOfJob } from './eventJob.ts';
import { editorUpdatePayload } from './rules/editorUpdatePayload.ts';
import { type StartedVersionJob, startVersionJob } from './versions/keepVersionStep.ts';

export interface VersionJobs {
  readonly minute: number;
  /** A lost message costs time only: the sweep starts the job when it is due. */
  readonly notify: (job: StartedVersionJob) => Promise<void>;
}

/**
 * The transaction of the event also inserts an update without a change. If a concurrent change takes the version of
 * that update, the step reads again. A later change starts another job, so it is in a later event.
 */
export async function emitEditorUpdateStep(
  table: Table,
  job: StoredJob,
  clock: () => number,
  { minute, notify }: VersionJobs,
): Promise<StepResult> {
  const data = EventJobData.parse(JSON.parse(job.data));
  const { tenant, jobId, _r: revision } = job;
  const { organizationKey, documentKey, editorId } = data;
  const due = job.createdAt + DEBOUNCE_MS;
  if (clock() < due) return { progress: {}, notBefore: due };
  const scope = { tenant, organizationKey, documentKey };
  const editors = new EditorReader(table);
  const retries = new Retries();
  do {
    const found = await readEditorOfJob(table, editors, tenant, data);
    if (found?.state.newest.eventJobStartedAt === undefined) return 'done';
    const now = clock();
    const { names, settings, state } = found;
    const versionJob = startVersionJob(tenant, data, state.newest, { settings, minute, now });
    const entry: EditorUpdate = {
      ...unchangedUpdate(state.newest, now),
      eventJobStartedAt: undefined,
      ...(versionJob && { versionDueAt: versionJob.dueAt }),
    };
    const outcome = await table.write([
      insert(EditorUpdateEntity, { ...scope, editorId, ...entry }),
      ...(versionJob ? [versionJob.op] : []),
      ...eventOps(names, state, now),
      endJob(tenant, jobId, revision),
    ]);
    if (outcome !== 'done') continue;
    if (versionJob) await notify(versionJob);
    return 'done';
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
