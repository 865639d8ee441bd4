import { type Capability, combine } from '../app/capability.ts';
import { listOutbox, outboxShards, type OutboxStore, pendingEvents } from '../events/outbox.ts';
import { firstAttemptBacklog, type IsBacklogged } from '../webhooks/firstAttemptBacklog.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import { type ShardSweep, sweepPages } from '../workers/sweep.ts';
import { fanOut, fanOutCapability, type FanOutPorts } from './fanOut.ts';

export interface OutboxSweepPorts {
  readonly outbox: Pick<OutboxStore, 'listPending'>;
  readonly fanOut: FanOutPorts;
  readonly isBacklogged: IsBacklogged;
  /** The age in milliseconds from which the sweep processes an event. The stream may still deliver younger events. */
  readonly reconcileAfterMs: number;
}

/**
 * Returns a sweep that fans out the old events of an outbox shard. The stream did not deliver such an event, its fan-out failed, or
 * its first attempts have not ended. Groups of its first attempts are stored. Throws if the fan-out of an event fails.
 *
 * While the queue of first attempts is long, the sweep sends no messages, because earlier messages may still be in the queue. The
 * sweep of groups sends them later.
 */
export function sweepOutbox({
  outbox,
  fanOut: ports,
  isBacklogged: readBacklog,
  reconcileAfterMs,
}: OutboxSweepPorts): ShardSweep {
  return async (shard, call) => {
    const before = call.clock() - reconcileAfterMs;
    const isBacklogged = await readBacklog(call);
    let failed = 0;
    await sweepPages(
      call,
      (options) => outbox.listPending(shard, before, options),
      async (events) => {
        const { size } = await fanOut(ports, events, call, { isBacklogged, isSwept: true });
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

/** The index of the outbox, for the sweep. Events are due `RECONCILE_AFTER_SECONDS` after they were written. */
export const outboxIndex = /* @__PURE__ */ combine({ dueAfterMs: reconcileAfter }, ({ dueAfterMs }): DueIndex => ({
  shards: outboxShards,
  partition: pendingEvents,
  dueAfterMs,
}));

export const outboxSweep = /* @__PURE__ */ combine(
  { outbox: listOutbox, fanOut: fanOutCapability, isBacklogged: firstAttemptBacklog, reconcileAfterMs: reconcileAfter },
  sweepOutbox,
);
