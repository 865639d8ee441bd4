import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import { migrates } from './documents.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';

const LIFETIME_SECONDS = 90 * 24 * 60 * 60;

export const migrationStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const;
export type MigrationStatus = (typeof migrationStatuses)[number];

const Schema = z.object({
  migrationId: z.string(),
  from: z.string(),
  to: z.string(),
  status: z.enum(migrationStatuses),
  /** Epoch ms. */
  changedAt: z.number(),
  /**
   * Epoch ms. Set if the migration is complete, or failed because the document was deleted. A migration that failed for
   * another reason can be continued.
   */
  endedAt: z.number().optional(),
});
export type DocumentMigration = z.output<typeof Schema>;

export const DocumentMigrationEntity = defineEntity({
  type: 'DocumentMigration',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The progress of a migration of a document to another id, for 90 days',
  schema: Schema,
  pk: (of: Pick<OrganizationScope, 'tenant' | 'organizationKey'>) => organizationPartition(of, 'MIGRATIONS'),
  sk: (key: { migrationId: string }) => [key.migrationId],
  indexes: {
    gsi1: {
      holds: 'migrations that have not ended, by the id of the document',
      pk: ({ tenant, from, endedAt }) => (endedAt === undefined ? migrationsOf(tenant, from) : undefined),
      sk: ({ migrationId }) => [migrationId],
    },
    gsi2: {
      holds: 'migrations that have not ended, by the new id of the document',
      pk: ({ tenant, to, endedAt }) => (endedAt === undefined ? migrationsOf(tenant, to) : undefined),
      sk: ({ migrationId }) => [migrationId],
    },
  },
  expiresAt: ({ changedAt }) => Math.floor(changedAt / 1000) + LIFETIME_SECONDS,
});

function migrationsOf(tenant: string, documentId: string): string[] {
  return [tenant, 'MIGRATING', documentId];
}

/**
 * Throws FAILED_PRECONDITION if a document is being migrated from or to this id, in any organization. Records of the
 * document can have either id then.
 */
export async function refuseMigratingId(table: Table, tenant: string, documentId: string): Promise<void> {
  const parts = migrationsOf(tenant, documentId);
  const found = await Promise.all(
    (['gsi1', 'gsi2'] as const).map((index) => table.queryIndex(index, parts, { limit: 1 })),
  );
  const migrations = await table.getByKeys(
    DocumentMigrationEntity,
    found.flatMap(({ keys }) => keys),
  );
  const migration = migrations.find((each) => each && each.endedAt === undefined);
  if (migration) throw migrates(migration, documentId);
}
