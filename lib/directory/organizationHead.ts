import { ApiError } from '../shared/errors.ts';
import { type OrganizationScope, organizationScope } from './folders/folders.ts';
import { endJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { type Organization, OrganizationEntity, OrganizationReader } from './organizations.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table, type WriteOp } from '../table/table.ts';

/** What an organization counts: jobs that are not done, with which what lies in it is to be read. */
export type Counted = 'folderChanges' | 'folderDepartures';

/** An organization as a call goes on writing it, together with something else and over the revision that was read. */
export class OrganizationHead {
  readonly #table: Table;
  readonly #tenant: string;
  #organization: Stored<Organization>;
  #stale = false;

  constructor(table: Table, tenant: string, organization: Stored<Organization>) {
    this.#table = table;
    this.#tenant = tenant;
    this.#organization = organization;
  }

  /** The customer's id and the internal one. */
  get ids(): { readonly organizationKey: string; readonly organizationId: string } {
    return { organizationKey: this.#organization.internalId, organizationId: this.#organization.organizationId };
  }

  /** The place beneath it, read anew after somebody else wrote it. INVALID_ARGUMENT when it is gone. */
  async scope(): Promise<OrganizationScope> {
    if (this.#stale) {
      const found = await new OrganizationReader(this.#table).require(this.#tenant, this.#organization.organizationId);
      if (found.internalId !== this.#organization.internalId)
        throw new ApiError('ABORTED', 'The organization was deleted and added again. Send the request again.');
      this.#organization = found;
      this.#stale = false;
    }
    return organizationScope(this.#tenant, this.#organization);
  }

  /** Writes something together with the organization as it was read, and counts so many jobs more. */
  async write(counted: Counted, more: number, ops: readonly WriteOp[]): Promise<'done' | 'conflict'> {
    const { _r, ...organization } = this.#organization;
    const next = { ...organization, [counted]: (organization[counted] ?? 0) + more };
    const outcome = await this.#table.write([
      replace(OrganizationEntity, { tenant: this.#tenant, ...next }, _r),
      ...ops,
    ]);
    if (outcome === 'done') this.#organization = { ...next, _r: _r + 1 };
    else this.#stale = true;
    return outcome === 'done' ? 'done' : 'conflict';
  }
}

/** Ends a job and counts it off its organization, both or neither; one that is gone counts nothing. `otherwise` when somebody else has the job. */
export async function endCounted(
  table: Table,
  job: StoredJob,
  counted: Counted,
  { organizationKey, organizationId }: OrganizationHead['ids'],
  otherwise: StepResult,
): Promise<StepResult> {
  return retryOnConflict<StepResult>(async () => {
    const found = await table.get(OrganizationEntity, { tenant: job.tenant, organizationId });
    const head = found?.internalId === organizationKey ? found : undefined;
    const left = Math.max((head?.[counted] ?? 0) - 1, 0);
    const outcome = await table.write([
      endJob(job.tenant, job.jobId, job._r),
      ...(head
        ? [replace(OrganizationEntity, { tenant: job.tenant, ...head, [counted]: left || undefined }, head._r)]
        : []),
    ]);
    if (outcome === 'done') return 'done';
    return outcome.conflicts.includes(0) ? otherwise : 'conflict';
  });
}
