import { organizationScope } from '../directory/folders/folders.ts';
import type { JobMessage } from '../jobs/jobStore.ts';
import {
  type Organization,
  OrganizationEntity,
  type OrganizationResult,
  unknownOrganizationResult,
} from '../directory/organizations.ts';
import { removeOrganizationJob } from './startPurge.ts';
import type { Stored } from '../table/entity.ts';
import { remove, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What became of each of some organizations, and the jobs that remove what lies beneath. */
export interface OrganizationsRemoved {
  readonly results: readonly OrganizationResult[];
  readonly jobs: readonly JobMessage[];
}

export class OrganizationRemover {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Removes organizations: from then on nothing beneath can be reached, and the same ids are free. What lies beneath is removed by jobs, one for each
   * organization. Ids are distinct; one that does not exist fails alone.
   */
  async remove(tenant: string, organizationIds: readonly string[], now: number): Promise<OrganizationsRemoved> {
    const removed = await writeEach<
      string,
      Stored<Organization> | undefined,
      { result: OrganizationResult; jobId?: string }
    >({
      table: this.#table,
      items: organizationIds,
      read: (items) =>
        this.#table.getMany(
          OrganizationEntity,
          items.map((organizationId) => ({ tenant, organizationId })),
        ),
      decide: (organizationId, stored) => {
        if (!stored) return { result: { result: unknownOrganizationResult }, ops: [] };
        const { op, jobId } = removeOrganizationJob(organizationScope(tenant, stored), now);
        const result = { success: true, id: stored.internalId, message: 'Deleted Successfully' };
        return {
          result: { result, jobId },
          ops: [remove(OrganizationEntity, { tenant, organizationId }, stored._r), op],
        };
      },
      conflicted: () => ({
        result: { success: false, id: '', message: 'Organization is being changed by another request.' },
      }),
    });
    return {
      results: removed.map(({ result }) => result),
      jobs: removed.flatMap(({ jobId }) => (jobId === undefined ? [] : [{ tenant, jobId }])),
    };
  }
}

export const removeOrganizations = /* @__PURE__ */ storeCapability(OrganizationRemover, [
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);
