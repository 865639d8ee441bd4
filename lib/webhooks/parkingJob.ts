import * as z from 'zod';
import type { NewJob } from '../jobs/jobStore.ts';

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
