import { ApiError } from '../errors.ts';

const TRIES = 10;
/** The longest pause after the first try; it grows with every further one, so that many who want the same come apart. */
const LONGEST_PAUSE_MILLISECONDS = 40;

/**
 * Reads, decides and writes until nobody else wrote in between: `attempt` gives `conflict` when its condition did not hold,
 * and is then run again from its reading on. ABORTED when others keep writing; what `attempt` throws is thrown on.
 */
export async function settle<T>(attempt: () => Promise<T | 'conflict'>): Promise<T> {
  for (let i = 0; i < TRIES; i++) {
    const outcome = await attempt();
    if (outcome !== 'conflict') return outcome;
    await pause(i);
  }
  throw new ApiError('ABORTED', 'Other requests are changing the same thing. Send the request again.');
}

/** A short time of random length, after which those who met are apart; a longer one after more tries. */
export function pause(tries = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MILLISECONDS * (tries + 1)));
}
