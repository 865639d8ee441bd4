import * as z from 'zod';
import { type DocumentScope, documentScope } from '../content/documentScope.ts';
import type { Rename, RenameHook } from '../content/rename.ts';
import {
  type DocumentMigration,
  DocumentMigrationEntity,
  type MigrationStatus,
} from '../directory/documentMigrations.ts';
import {
  type Document,
  DocumentEntity,
  DocumentReader,
  folderEntryRemoval,
  folderEntryWrite,
} from '../directory/documents.ts';
import { isRemovingUsers, requireNoRevocation } from '../directory/folders/folderRevocations.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { recordRename } from '../directory/renamedDocuments.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { LiveChannelEntity } from '../live/entities.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { MigrationJob } from './documentMigrations.ts';

const STEP_MILLISECONDS = 2_000;
const REMOVAL_WAIT = 10_000;
/** With the pauses between the runs of a job, about 20 minutes. */
const MAX_TRIES = 5;

/** `hook` is an index of the hooks, `after` the position in the records of the hook. */
const Progress = z.object({ pass: z.enum(['first', 'second']), hook: z.number(), after: z.string().optional() });
type Progress = z.output<typeof Progress>;

interface Migrating {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly migration: Stored<DocumentMigration>;
  readonly clock: () => number;
}

export const renameHooks: readonly RenameHook[] = /* @__PURE__ */ contentKinds.flatMap(({ rename }) =>
  rename === 'none' ? [] : rename,
);

/**
 * Writes the new id into all records, twice: requests from before the migration can write until 60 s after its start.
 * Then gives the document the new id, in one transaction. After `MAX_TRIES` failures in a row, the status is `failed`
 * until another run of the job continues.
 */
export async function migrateDocumentStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const { organizationKey, migrationId } = MigrationJob.parse(JSON.parse(job.data));
  const scope: OrganizationScope = { tenant: job.tenant, organizationKey };
  const migration = await table.get(DocumentMigrationEntity, { ...scope, migrationId });
  if (!migration || migration.status === 'completed') return 'done';
  const migrating: Migrating = { table, scope, migration, clock };
  try {
    return await runStep(migrating, job);
  } catch (error) {
    if ((job.tries ?? 0) >= MAX_TRIES) await setStatus(migrating, 'failed');
    throw error;
  }
}

async function runStep(migrating: Migrating, job: StoredJob): Promise<StepResult> {
  const { table, scope, migration, clock } = migrating;
  if (migration.status !== 'in_progress') await setStatus(migrating, 'in_progress');
  const progress: Progress = job.progress ? Progress.parse(JSON.parse(job.progress)) : { pass: 'first', hook: 0 };
  const secondPassAt = job.createdAt + REQUESTS_ENDED_MS;
  if (progress.pass === 'second' && clock() < secondPassAt) return { progress, notBefore: secondPassAt };
  const document = await findLeaving(migrating);
  if (!document) return abandon(migrating);
  const rename: Rename = { table, scope: documentScope(scope, document), from: migration.from, to: migration.to };
  const next = await renameAll(rename, progress, clock);
  if (next) return { progress: next };
  if (progress.pass === 'first') return { progress: { pass: 'second', hook: 0 }, notBefore: secondPassAt };
  // The removal of users from a folder reads the ids of its documents, and would miss the new one.
  if (document.folder && (await isRemovingUsers(table, scope))) return { progress, notBefore: clock() + REMOVAL_WAIT };
  const outcome = await retryOnConflict(async () => {
    const leaving = await findLeaving(migrating);
    return leaving ? arrive(migrating, rename.scope, leaving) : 'deleted';
  });
  return outcome === 'deleted' ? abandon(migrating) : 'done';
}

async function renameAll(rename: Rename, from: Progress, clock: () => number): Promise<Progress | undefined> {
  const deadline = clock() + STEP_MILLISECONDS;
  let { hook, after } = from;
  while (hook < renameHooks.length) {
    after = await renameHooks[hook]?.rename(rename, after);
    if (after === undefined) hook += 1;
    if (clock() > deadline && hook < renameHooks.length) return { ...from, hook, after };
  }
  return undefined;
}

async function findLeaving({ table, scope, migration }: Migrating): Promise<Stored<Document> | undefined> {
  const document = await new DocumentReader(table).get({ ...scope, hasFolderChanges: true }, migration.from);
  return document?.leaving?.migrationId === migration.migrationId ? document : undefined;
}

async function arrive(
  { table, scope, migration, clock }: Migrating,
  { documentKey }: DocumentScope,
  leaving: Stored<Document>,
): Promise<'done' | 'conflict' | 'deleted'> {
  const { from, to, migrationId } = migration;
  const now = clock();
  const [reserved, channel, stored] = await Promise.all([
    table.get(DocumentEntity, { ...scope, documentId: to }),
    table.get(LiveChannelEntity, { ...scope, documentKey }),
    table.get(DocumentMigrationEntity, { ...scope, migrationId }),
  ]);
  if (!stored) return 'conflict';
  // After the deletion of the folder, another document can have taken the new id.
  if (reserved?.arriving?.migrationId !== migrationId) return 'deleted';
  const arrived: Document = { ...leaving, documentId: to, leaving: undefined };
  const ops: WriteOp[] = [
    remove(DocumentEntity, { ...scope, documentId: from }, leaving._r),
    replace(DocumentEntity, { ...scope, ...arrived }, reserved._r),
    replace(
      DocumentMigrationEntity,
      { ...scope, ...stored, status: 'completed', changedAt: now, endedAt: now },
      stored._r,
    ),
    recordRename(scope, { documentKey, documentId: to, renamedAt: now }),
    ...folderEntryRemoval(scope, leaving),
    ...folderEntryWrite(scope, arrived),
    ...(leaving.folder ? [requireNoRevocation(scope)] : []),
  ];
  if (channel)
    ops.push(replace(LiveChannelEntity, { ...scope, ...channel, documentId: to, migratedTo: to }, channel._r));
  return table.tryWrite(ops);
}

/** The document was deleted with its folder or organization, whose job purges the content. */
async function abandon(migrating: Migrating): Promise<'done'> {
  const { table, scope, migration } = migrating;
  const reserved = await table.get(DocumentEntity, { ...scope, documentId: migration.to });
  if (reserved?.arriving?.migrationId === migration.migrationId)
    await table.write([remove(DocumentEntity, { ...scope, documentId: migration.to }, reserved._r)]);
  await setStatus(migrating, 'failed', { endedAt: migrating.clock() });
  return 'done';
}

async function setStatus(
  { table, scope, migration, clock }: Migrating,
  status: MigrationStatus,
  ended: Pick<DocumentMigration, 'endedAt'> = {},
): Promise<void> {
  const { migrationId } = migration;
  await retryOnConflict(async () => {
    const stored = await table.get(DocumentMigrationEntity, { ...scope, migrationId });
    if (!stored || stored.status === 'completed' || stored.status === status) return 'done';
    return table.tryWrite([
      replace(DocumentMigrationEntity, { ...scope, ...stored, ...ended, status, changedAt: clock() }, stored._r),
    ]);
  });
}
