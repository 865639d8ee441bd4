import { type Capability, combine } from '../app/capability.ts';
import {
  ORGANIZATION_BUSY,
  OrganizationEntity,
  OrganizationReader,
  unknownOrganizationResult,
} from '../directory/organizations.ts';
import { type JobMessage, notifyJobs } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import type { ItemResult } from '../shared/results.ts';
import { tableWith } from '../table/storeCapability.ts';
import { remove } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import * as sendTo from '../workers/sendTo.ts';
import { PURGE_DELAY_SECONDS, startPurge } from './startPurge.ts';

/**
 * The ids can be used again at once. Jobs purge the content. Ids must be distinct. An unknown id fails in its own
 * result.
 */
type DeleteOrganizations = (
  tenant: string,
  organizationIds: readonly string[],
  call: { readonly now: number; readonly log: Log },
) => Promise<ItemResult[]>;

export const deleteOrganizations: Capability<DeleteOrganizations> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'PutItem', 'DeleteItem']), queue: sendTo.jobs },
  ({ table, queue }) =>
    async (tenant, organizationIds, { now, log }) => {
      const organizations = new OrganizationReader(table);
      const jobs = new Map<string, JobMessage>();
      const results = await writeEach({
        table,
        items: organizationIds,
        read: (ids) => organizations.find(tenant, ids),
        decide: (organizationId, stored) => {
          if (!stored) return { result: unknownOrganizationResult, ops: [] };
          const { op, jobId } = startPurge(tenant, 'purgeOrganization', { organizationKey: stored.internalId }, now);
          jobs.set(organizationId, { tenant, jobId });
          return {
            result: { success: true, id: stored.internalId, message: 'Deleted Successfully' },
            ops: [remove(OrganizationEntity, { tenant, organizationId }, stored._r), op],
          };
        },
        conflicted: () => ({ success: false, id: '', message: ORGANIZATION_BUSY }),
      });
      const deleted = organizationIds.filter((_id, index) => results[index]?.success);
      await notifyJobs(
        queue,
        deleted.flatMap((id) => jobs.get(id) ?? []),
        log,
        PURGE_DELAY_SECONDS,
      );
      return results;
    },
);
