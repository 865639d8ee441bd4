import { combine } from '../app/capability.ts';
import type { Sweep } from '../workers/sweep.ts';
import { sweepPresence as openSweeper, type PresenceSweeper } from './presences.ts';

/** The time from one pass to the next, in milliseconds. Clients get the end of a lease within 15 s. */
const PASS_MILLISECONDS = 12_000;
/** How long before the end of a run no more passes start, in milliseconds. */
const SPARE = 2_000;

export interface PresenceSweepPorts {
  readonly sweeper: Pick<PresenceSweeper, 'endExpired'>;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/**
 * Returns the sweep that ends presences whose leases have ended. It makes passes until the next run starts, but only one pass
 * if nobody is present. A presence whose lease begins and ends between two runs has its own job.
 */
export function sweepPresences({ sweeper, sleep }: PresenceSweepPorts): Sweep {
  return async (call) => {
    while ((await sweeper.endExpired(call)) && call.clock() + PASS_MILLISECONDS < call.deadline - SPARE)
      await sleep(PASS_MILLISECONDS);
  };
}

export const presenceSweep = /* @__PURE__ */ combine({ sweeper: openSweeper }, ({ sweeper }) =>
  sweepPresences({ sweeper, sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)) }),
);
