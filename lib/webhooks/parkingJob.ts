import * as z from 'zod';
import { JobEntity, type NewJob, restartJob } from '../jobs/jobStore.ts';
import type { Table, WriteOp } from '../table/table.ts';

export const ParkingJob = z.object({ endpointId: z.string() });

export function parkingJob(endpointId: string, dueAt: number): NewJob {
  const data: z.output<typeof ParkingJob> = { endpointId };
  return { jobId: `job_parked_${endpointId}`, kind: 'releaseParked', data, dueAt };
}

/**
 * Add the operation to each change of an enabled endpoint, because the change ends the pause of the breaker. The sweep
 * sends the message of the job.
 */
export async function restartParkingJob(
  table: Pick<Table, 'get'>,
  { tenant, endpointId }: { readonly tenant: string; readonly endpointId: string },
): Promise<WriteOp[]> {
  const now = Date.now();
  const job = parkingJob(endpointId, now);
  const stored = await table.get(JobEntity, { tenant, jobId: job.jobId });
  return stored ? [restartJob(tenant, job, now)] : [];
}
