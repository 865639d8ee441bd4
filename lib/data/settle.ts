import { ApiError } from '../errors.ts';

const TRIES = 10;
const LONGEST_PAUSE_MILLISECONDS = 40;

/**
 * Reads, decides and writes until nobody else wrote in between: `attempt` gives `conflict` when its condition did not hold,
 * and is then run again from its reading on. ABORTED when others keep writing; what `attempt` throws is thrown on.
 */
export async function settle<T>(attempt: () => Promise<T | 'conflict'>): Promise<T> {
  for (let i = 0; i < TRIES; i++) {
    const outcome = await attempt();
    if (outcome !== 'conflict') return outcome;
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MILLISECONDS));
  }
  throw new ApiError('ABORTED', 'Other requests are changing the same thing. Send the request again.');
}
