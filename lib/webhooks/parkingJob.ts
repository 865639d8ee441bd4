import * as z from 'zod';
import { JobEntity, type NewJob, restartJob } from '../jobs/jobStore.ts';
import type { Table, WriteOp } from '../table/table.ts';

/**
 * The data of a `releaseParked` job. The job attempts or ends the parked deliveries of an endpoint, which wait for its circuit
 * breaker.
 */
export const ParkingJob = z.object({ endpointId: z.string() });

/** Returns the `releaseParked` job of an endpoint, due at `dueAt` (epoch ms). */
export function parkingJob(endpointId: string, dueAt: number): NewJob {
  const data: z.output<typeof ParkingJob> = { endpointId };
  return { jobId: `job_parked_${endpointId}`, kind: 'releaseParked', data, dueAt };
}

/**
 * Returns the operation that makes the `releaseParked` job of an endpoint due now. Returns none if the endpoint has no such job.
 * Write it with each change of an enabled endpoint, because the change ends the pause of the circuit breaker. The sweep, which runs
 * every minute, sends the message of the job.
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
