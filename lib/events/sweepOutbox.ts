import { type Capability, combine } from '../app/capability.ts';
import { type Sweep, sweepShards } from '../workers/sweep.ts';
import { fanOut, fanOutCapability, type FanOutPorts } from './fanOut.ts';
import { eventShards, listOutbox, type OutboxStore } from './outbox.ts';

export interface OutboxSweepPorts {
  readonly outbox: Pick<OutboxStore, 'listPending'>;
  readonly fanOut: FanOutPorts;
  /** How old an event in the outbox must be: younger ones are still on their way through the stream. */
  readonly reconcileAfterMs: number;
}

/** Returns the sweep that fans out events which the stream did not bring, or whose fan-out failed. Throws if that fails again. */
export function sweepOutbox({ outbox, fanOut: ports, reconcileAfterMs }: OutboxSweepPorts): Sweep {
  return async (call) => {
    const before = call.clock() - reconcileAfterMs;
    let failed = 0;
    await sweepShards(
      eventShards,
      call,
      (shard, options) => outbox.listPending(shard, before, options),
      async (events) => {
        const { size } = await fanOut(ports, events, call);
        failed += size;
      },
    );
    if (failed > 0) throw new Error(`${failed} events were not fanned out`);
  };
}

const reconcileAfter: Capability<number> = {
  grants: [],
  env: ['RECONCILE_AFTER_SECONDS'],
  open: (env) => Number(env.RECONCILE_AFTER_SECONDS) * 1000,
};

export const outboxSweep = /* @__PURE__ */ combine(
  { outbox: listOutbox, fanOut: fanOutCapability, reconcileAfterMs: reconcileAfter },
  sweepOutbox,
);
