import { endJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { ApiError } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table, type WriteOp } from '../table/table.ts';
import { type Organization, OrganizationEntity, OrganizationReader } from './organizations.ts';
import { type OrganizationScope, organizationScope } from './organizationScope.ts';

export type JobCount = 'folderChanges' | 'folderRevocations';

/** Each `write` also writes the organization, so it conflicts if another request has changed it. */
export class OrganizationLock {
  readonly #table: Table;
  readonly #tenant: string;
  #organization: Stored<Organization>;
  #isStale = false;

  constructor(table: Table, tenant: string, organization: Stored<Organization>) {
    this.#table = table;
    this.#tenant = tenant;
    this.#organization = organization;
  }

  get ids(): { readonly organizationKey: string; readonly organizationId: string } {
    return { organizationKey: this.#organization.internalId, organizationId: this.#organization.organizationId };
  }

  /**
   * After a conflict, reads the organization again. Throws INVALID_ARGUMENT if it was deleted, and ABORTED if it was
   * created again.
   */
  async scope(): Promise<OrganizationScope> {
    if (this.#isStale) {
      const { organizationKey, organizationId } = this.ids;
      const current = await new OrganizationReader(this.#table).require(this.#tenant, organizationId);
      if (current.internalId !== organizationKey)
        throw new ApiError('ABORTED', 'The organization was deleted and added again. Send the request again.');
      this.#organization = current;
      this.#isStale = false;
    }
    return organizationScope(this.#tenant, this.#organization);
  }

  /** Does not write the organization. */
  async tryWrite(ops: readonly WriteOp[]): Promise<'done' | 'conflict'> {
    const outcome = await this.#table.tryWrite(ops);
    this.#isStale = outcome !== 'done';
    return outcome;
  }

  /** Adds `startedJobs` to the field of the organization that `count` names, in the transaction of `ops`. */
  async write(count: JobCount, startedJobs: number, ops: readonly WriteOp[]): Promise<'done' | 'conflict'> {
    const { _r, ...organization } = this.#organization;
    const next = { ...organization, [count]: (organization[count] ?? 0) + startedJobs };
    const outcome = await this.#table.write([
      replace(OrganizationEntity, { tenant: this.#tenant, ...next }, _r),
      ...ops,
    ]);
    this.#isStale = outcome !== 'done';
    if (this.#isStale) return 'conflict';
    this.#organization = { ...next, _r: _r + 1 };
    return 'done';
  }
}

/**
 * Ends a job, subtracts it from the organization's count and writes `andWrite`, in one transaction. If the organization
 * no longer exists, only ends the job. If another worker has changed the job, returns `otherwise`.
 */
export async function endCountedJob(
  table: Table,
  job: StoredJob,
  count: JobCount,
  { organizationKey, organizationId }: OrganizationLock['ids'],
  otherwise: StepResult,
  andWrite: (isLast: boolean) => readonly WriteOp[] = () => [],
): Promise<StepResult> {
  return retryOnConflict<StepResult>(async () => {
    const stored = await table.get(OrganizationEntity, { tenant: job.tenant, organizationId });
    const organization = stored?.internalId === organizationKey ? stored : undefined;
    const remainingJobs = Math.max((organization?.[count] ?? 0) - 1, 0);
    const outcome = await table.write([
      endJob(job.tenant, job.jobId, job._r),
      ...(organization
        ? [
            replace(
              OrganizationEntity,
              { tenant: job.tenant, ...organization, [count]: remainingJobs || undefined },
              organization._r,
            ),
            ...andWrite(remainingJobs === 0),
          ]
        : []),
    ]);
    if (outcome === 'done') return 'done';
    return outcome.conflicts.includes(0) ? otherwise : 'conflict';
  });
}
