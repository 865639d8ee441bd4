import * as z from 'zod';
import { type Capability, optionalVariable } from '../../app/capability.ts';
import { endJob, type JobMessage, startJob, type StepResult, type StoredJob } from '../../jobs/jobStore.ts';
import type { Log } from '../../observability/log.ts';
import * as logMessages from '../../observability/logMessages.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { Retries } from '../../table/retryOnConflict.ts';
import { insert, type Table, type WriteOp } from '../../table/table.ts';
import type { EditorVersions } from '../../workspaces/rules/apiKeyConfig.ts';
import { unchangedUpdate } from '../editorLog.ts';
import { EditorReader } from '../editorReader.ts';
import { type EditorUpdate, EditorUpdateEntity, stateVersionOf } from '../entities.ts';
import { EventJobData, isJobPending, readEditorOfJob } from '../eventJob.ts';
import { editorName, planVersion, type VersionPlan } from './planVersion.ts';
import { VersionStore } from './versionStore.ts';

const PAUSE_MS = 60_000;
/** Within a second, the order of versions can differ from that of their states. */
const NEWEST = 10;

const VersionJobData = EventJobData.extend({ wait: z.number() });

/** A minute of `everyMinutes`, in milliseconds. */
export const versionMinute: Capability<number> = {
  grants: [],
  env: [],
  open: (env) => (optionalVariable(env, 'EDITOR_VERSIONS_IN_SECONDS') === '1' ? 1_000 : 60_000),
};

export interface StartedVersionJob {
  readonly op: WriteOp;
  readonly message: JobMessage;
  /** Milliseconds. */
  readonly wait: number;
  readonly dueAt: number;
}

/** Undefined if automatic versions are switched off, or if such a job is pending. */
export function startVersionJob(
  tenant: string,
  { organizationKey, organizationId, documentKey, documentId, internalId, editorId }: EventJobData,
  newest: EditorUpdate,
  { settings, minute, now }: { settings: EditorVersions | undefined; minute: number; now: number },
): StartedVersionJob | undefined {
  if (!settings || isJobPending(newest.versionDueAt, now)) return undefined;
  const wait = settings.everyMinutes * minute;
  const data = { organizationKey, organizationId, documentKey, documentId, internalId, editorId, wait };
  const jobId = newId('job', now);
  const dueAt = now + wait;
  return {
    wait,
    dueAt,
    message: { tenant, jobId },
    op: startJob(tenant, { jobId, kind: 'keepEditorVersion', data, dueAt }, now),
  };
}

/**
 * Makes an automatic version, unless one of the newest versions has the same state. A later change starts the next job.
 */
export async function keepVersionStep(
  table: Table,
  job: StoredJob,
  clock: () => number,
  { log }: { readonly log: Log },
): Promise<StepResult> {
  const { wait, ...data } = VersionJobData.parse(JSON.parse(job.data));
  const { tenant, jobId, _r: revision } = job;
  const { organizationKey, documentKey, editorId } = data;
  const due = job.createdAt + wait;
  if (clock() < due) return { progress: {}, notBefore: due };
  const scope = { tenant, organizationKey, documentKey };
  const editors = new EditorReader(table);
  const retries = new Retries();
  do {
    const found = await readEditorOfJob(table, editors, tenant, data);
    if (found?.state.newest.versionDueAt === undefined) return 'done';
    const now = clock();
    const { settings, state } = found;
    const newest = (await new VersionStore(table).list(editorName(scope, state), NEWEST)).values;
    const hasState = newest.some(({ stateVersion }) => stateVersion === stateVersionOf(state.newest));
    const isNeeded = settings && !hasState;
    const request = { versionId: newId('ver', now), isAutomatic: true, now, settings, log };
    const plan = isNeeded ? await planWithin(() => planVersion(table, scope, state, request), log) : undefined;
    const entry = unchangedUpdate(state.newest, now);
    const outcome = await table.tryWrite([
      insert(EditorUpdateEntity, {
        ...scope,
        editorId,
        ...entry,
        versionDueAt: undefined,
        ...(plan && { authors: undefined }),
      }),
      ...(plan?.ops ?? []),
      endJob(tenant, jobId, revision),
    ]);
    await plan?.finish(outcome === 'done');
    if (outcome === 'done') return 'done';
  } while (await retries.next());
  return { progress: {}, notBefore: clock() + PAUSE_MS };
}

/** Without room, the editor keeps its named versions and gets no automatic one. */
async function planWithin(plan: () => Promise<VersionPlan>, log: Log): Promise<VersionPlan | undefined> {
  try {
    return await plan();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 'RESOURCE_EXHAUSTED') throw error;
    log.warn(logMessages.editorVersionsFull);
    return undefined;
  }
}
