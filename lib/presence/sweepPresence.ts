import { setTimeout as sleep } from 'node:timers/promises';
import { combine } from '../app/capability.ts';
import type { Sweep } from '../workers/sweep.ts';
import { type PresenceSweeper, sweepPresence as openSweeper } from './presences.ts';

/** So that clients learn the end of a lease in about 15 s. */
const PASS_MILLISECONDS = 12_000;
/** No pass starts this shortly before the end of a run. */
const SPARE = 2_000;

export interface PresenceSweepPorts {
  readonly sweeper: Pick<PresenceSweeper, 'endExpired'>;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/**
 * While anybody is present, the sweep makes passes until shortly before its deadline. A lease that may begin and end
 * between two runs has a job (`watchLease`).
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
