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
  readonly reconcileAfterMs: number;
}

/**
 * Fans out old events of a shard: the stream did not deliver them, their fan-out failed, or their first attempts have
 * not ended. Throws if the fan-out of an event fails. While the queue of first attempts is long it sends no messages,
 * because earlier ones may still wait there.
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

export const outboxIndex = /* @__PURE__ */ combine({ dueAfterMs: reconcileAfter }, ({ dueAfterMs }): DueIndex => ({
  shards: outboxShards,
  partition: pendingEvents,
  dueAfterMs,
}));

export const outboxSweep = /* @__PURE__ */ combine(
  { outbox: listOutbox, fanOut: fanOutCapability, isBacklogged: firstAttemptBacklog, reconcileAfterMs: reconcileAfter },
  sweepOutbox,
);
