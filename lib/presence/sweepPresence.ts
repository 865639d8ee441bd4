import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../app/capability.ts';
import type { Sweep } from '../workers/sweep.ts';
import { type PresenceSweeper, sweepPresence as openSweeper } from './presences.ts';

/** The time between two passes over all presences, in milliseconds. Clients therefore learn the end of a lease within 15 s. */
const PASS_MILLISECONDS = 12_000;
/** In the last milliseconds of a run (this many), no pass starts. */
const SPARE = 2_000;

export interface PresenceSweepPorts {
  readonly sweeper: Pick<PresenceSweeper, 'endExpired'>;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/**
 * Returns the sweep that ends presences whose leases have ended. While anybody is present, it makes passes until the next run
 * starts. Otherwise it makes one pass. If a lease is so short that no run may see it, a job ends it (`watchLease`).
 */
export function sweepPresences({ sweeper, sleep }: PresenceSweepPorts): Sweep {
  return async (call) => {
    while ((await sweeper.endExpired(call)) && call.clock() + PASS_MILLISECONDS < call.deadline - SPARE)
      await sleep(PASS_MILLISECONDS);
  };
}

export const presenceSweep = /* @__PURE__ */ combine({ sweeper: openSweeper }, ({ sweeper }) =>
  sweepPresences({ sweeper, sleep }),
);
