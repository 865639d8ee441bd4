import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { migrationStatuses } from '../../../../../lib/directory/documentMigrations.ts';
import { findOrganization } from '../../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { readMigrations } from '../../../../../lib/migration/documentMigrations.ts';
import { Id } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/migrate/status',
    summary: 'Get the status of a migration of a document to another id',
    description:
      'The status can be read for 90 days. An unknown or older `migrationId` is NOT_FOUND. A migration that failed is tried again every six hours, and at once when `/v2/organizations/documents/migrate` is called again with the same ids. If the document was deleted meanwhile, the migration has failed, and that call answers NOT_FOUND.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      organizationId: Id,
      migrationId: Id.describe('The migration, by the id that `/v2/organizations/documents/migrate` returned.'),
    }),
    output: z.object({
      data: z.object({
        migrationId: z.string().describe('The id of the request.'),
        status: z
          .enum(migrationStatuses)
          .describe(
            'First `pending`, then `in_progress`. In the end `completed`, or `failed` after five attempts, which take about 20 minutes. A failed migration keeps the document read-only.',
          ),
      }),
    }),
    message: 'Migration status retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { findOrganization, migrations: readMigrations },
    impact: 'customers cannot see whether a document has its new id',
    example: {
      data: { organizationId: 'acme', migrationId: 'mig_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { migrationId: 'mig_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', status: 'completed' } },
    },
    cost: { calls: 2, roundTrips: 2, readUnits: 2, writeUnits: 0 },
  },
  async ({ input: { organizationId, migrationId }, caller, deps }) => {
    const organization = await deps.findOrganization.require(caller.tenant, organizationId);
    const { status } = await deps.migrations.get(organizationScope(caller.tenant, organization), migrationId);
    return { data: { migrationId, status } };
  },
);

export const handler = toLambda(endpoint);
