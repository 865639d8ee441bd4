import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { type DocumentMigration, DocumentMigrationEntity } from '../directory/documentMigrations.ts';
import { ABSENT, type Document, DocumentEntity, DocumentReader, migrates } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { requireWritable } from '../directory/requireWritable.ts';
import { notifyJobs, restartJob, startJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import { ApiError } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability, tableWith } from '../table/storeCapability.ts';
import { insert, insertOrReplace, replace, type Table, type WriteOp } from '../table/table.ts';
import * as sendTo from '../workers/sendTo.ts';

const SWEPT_AFTER = 5 * 60_000;

export const MigrationJob = z.object({ organizationKey: z.string(), migrationId: z.string() });
export type MigrationJob = z.output<typeof MigrationJob>;

export interface MigrationRequest {
  readonly scope: OrganizationScope;
  readonly documentId: string;
  readonly newDocumentId: string;
  /** For a new migration. */
  readonly migrationId: string;
  readonly now: number;
  readonly log: Log;
}

export class MigrationReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get({ tenant, organizationKey }: OrganizationScope, migrationId: string): Promise<Stored<DocumentMigration>> {
    const migration = await this.#table.get(DocumentMigrationEntity, { tenant, organizationKey, migrationId });
    if (!migration) throw new ApiError('NOT_FOUND', 'Migration does not exist');
    return migration;
  }
}

/**
 * Returns the id of the migration. Repeated for the same ids, returns the running migration, or continues a failed one.
 * Throws:
 * - NOT_FOUND for an unknown document
 * - ALREADY_EXISTS if another document has the new id
 * - FAILED_PRECONDITION if the document is disabled or being migrated, or if another one is being migrated to the new
 * id
 * - ABORTED after too many conflicts
 */
type StartMigration = (request: MigrationRequest) => Promise<string>;

export const startMigration: Capability<StartMigration> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem']), queue: sendTo.jobs },
  ({ table, queue }) =>
    async (request) => {
      const { scope, log } = request;
      const { migrationId, ops } = await retryOnConflict(async () => {
        const decided = await decideStart(table, request);
        return table.tryWrite(decided.ops, decided);
      });
      if (ops.length > 0) await notifyJobs(queue, [{ tenant: scope.tenant, jobId: migrationId }], log);
      return migrationId;
    },
);

async function decideStart(
  table: Table,
  { scope, documentId, newDocumentId, migrationId, now }: MigrationRequest,
): Promise<{ readonly migrationId: string; readonly ops: readonly WriteOp[] }> {
  const { tenant, organizationKey } = scope;
  const [source, target] = await new DocumentReader(table).find(scope, [documentId, newDocumentId]);
  const document = source?.current;
  if (!document) throw new ApiError('NOT_FOUND', ABSENT);
  if (document.leaving?.to === newDocumentId) return continueMigration(table, scope, document.leaving.migrationId, now);
  requireWritable({ document });
  if (target?.current?.arriving) throw migrates(target.current.arriving, newDocumentId);
  if (target?.current) throw new ApiError('ALREADY_EXISTS', 'A document with the new id exists already');
  const migration: DocumentMigration = {
    migrationId,
    from: documentId,
    to: newDocumentId,
    status: 'pending',
    changedAt: now,
  };
  const reserved: Document = { ...document, documentId: newDocumentId, arriving: { migrationId, from: documentId } };
  const job = jobOf(organizationKey, migrationId, now);
  return {
    migrationId,
    ops: [
      replace(DocumentEntity, { ...scope, ...document, leaving: { migrationId, to: newDocumentId } }, document._r),
      insertOrReplace(DocumentEntity, { ...scope, ...reserved }, target?.stored, now),
      insert(DocumentMigrationEntity, { tenant, organizationKey, ...migration }),
      startJob(tenant, job, now),
    ],
  };
}

async function continueMigration(
  table: Table,
  scope: OrganizationScope,
  migrationId: string,
  now: number,
): Promise<{ readonly migrationId: string; readonly ops: readonly WriteOp[] }> {
  const { tenant, organizationKey } = scope;
  const migration = await table.get(DocumentMigrationEntity, { tenant, organizationKey, migrationId });
  if (migration?.status !== 'failed') return { migrationId, ops: [] };
  const pending: DocumentMigration = { ...migration, status: 'pending', changedAt: now };
  return {
    migrationId,
    ops: [
      replace(DocumentMigrationEntity, { tenant, organizationKey, ...pending }, migration._r),
      restartJob(tenant, { ...jobOf(organizationKey, migrationId, now), dueAt: now }, now),
    ],
  };
}

function jobOf(organizationKey: string, migrationId: string, now: number) {
  const data: MigrationJob = { organizationKey, migrationId };
  return { jobId: migrationId, kind: 'migrateDocument', data, dueAt: now + SWEPT_AFTER } as const;
}

export const readMigrations = /* @__PURE__ */ storeCapability(MigrationReader, ['GetItem']);
