import { combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type ShardSweep, type Sweep, type SweepCall, sweepPages } from '../workers/sweep.ts';
import { type DeliveryStore, dueDeliveries, type StoredDelivery } from './deliveries.ts';
import { deliveryTiming, firstAttemptMessage, nextAttemptMessages } from './deliveryMessage.ts';
import { countUnhealthyEndpoints, type EndpointHealthStore } from './endpointHealth.ts';
import { firstAttemptBacklog, type IsBacklogged } from './firstAttemptBacklog.ts';
import { dueFirstAttempts, type FirstAttemptGroup, type FirstAttemptStore } from './firstAttempts.ts';
import { afterSweep, isClaimed, type PendingDelivery } from './rules/delivery.ts';
import type { Timing } from './rules/schedule.ts';

export interface DeliverySweepPorts {
  readonly deliveries: Pick<DeliveryStore, 'listDue' | 'replace'>;
  readonly groups: Pick<FirstAttemptStore, 'listDue' | 'postpone'>;
  readonly retryQueue: QueueSender;
  readonly isBacklogged: IsBacklogged;
  readonly timing: Timing;
}

/** The number of parallel writes for one shard. All shards of a batch together use about as many connections as the SDK has. */
const PARALLEL = 4;

/**
 * Returns a sweep that sends the messages of a shard's due deliveries. A conditional write postpones each delivery before its
 * message is sent. Only one of two simultaneous sweeps therefore sends it, and a later sweep replaces a lost message.
 *
 * While the queue of first attempts is long, first attempts are only postponed. Their messages are still in the queue, and copies
 * would make the queue longer.
 */
export function sweepDeliveries({
  deliveries,
  retryQueue,
  isBacklogged: readBacklog,
  timing,
}: Omit<DeliverySweepPorts, 'groups'>): ShardSweep {
  return measureDelays(timing, async (shard, call, addDelay) => {
    const startedAt = call.clock();
    const isBacklogged = await readBacklog(call);
    await sweepPages(
      call,
      (options) => deliveries.listDue(shard, startedAt, options),
      async (values) => {
        for (const { nextAt } of values) addDelay(startedAt - nextAt);
        const now = call.clock();
        const postponed: StoredDelivery<PendingDelivery>[] = [];
        await inParallel(values, PARALLEL, async (delivery) => {
          const stored = await deliveries.replace(delivery, afterSweep(delivery, now, timing));
          const isQueued = isClaimed(delivery, now) || (isBacklogged && isFirstAttempt(delivery));
          if (stored !== 'lost' && !isQueued) postponed.push(stored);
        });
        await retryQueue.send(postponed.flatMap((delivery) => nextAttemptMessages(delivery, now)));
      },
    );
  });
}

/**
 * Returns a sweep that sends the messages of a shard's due groups of first attempts. A group is postponed before its message is
 * sent. While the queue of first attempts is long, groups are only postponed.
 */
export function sweepFirstAttempts({
  groups,
  retryQueue,
  isBacklogged: readBacklog,
  timing,
}: Omit<DeliverySweepPorts, 'deliveries'>): ShardSweep {
  return measureDelays(timing, async (shard, call, addDelay) => {
    const startedAt = call.clock();
    const isBacklogged = await readBacklog(call);
    await sweepPages(
      call,
      (options) => groups.listDue(shard, startedAt, options),
      async (values) => {
        for (const { createdAt } of values) addDelay(startedAt - createdAt);
        const now = call.clock();
        const postponed: FirstAttemptGroup[] = [];
        await inParallel(values, PARALLEL, async (group) => {
          if ((await groups.postpone(group, now, timing)) === 'done' && !isBacklogged) postponed.push(group);
        });
        await retryQueue.send(postponed.map((group) => firstAttemptMessage(group, 0)));
      },
    );
  });
}

/**
 * Returns a sweep that also measures how late deliveries are. `sweep` passes the delay of each delivery to `addDelay`, in
 * milliseconds.
 */
function measureDelays(
  { marginMs }: Timing,
  sweep: (shard: number, call: SweepCall, addDelay: (delay: number) => void) => Promise<void>,
): ShardSweep {
  return async (shard, call) => {
    let [due, overdue, oldest] = [0, 0, 0];
    try {
      await sweep(shard, call, (delay) => {
        due++;
        if (delay < marginMs) return;
        overdue++;
        oldest = Math.max(oldest, delay);
      });
    } finally {
      // CloudWatch charges for every written metric, so counts of 0 are not written.
      if (due > 0) call.measures.count('DeliveriesDue', due);
      if (overdue > 0) call.measures.count('DeliveriesOverdue', overdue);
      if (overdue > 0) call.measures.record('OldestOverdueDeliveryAge', Math.round(oldest / 1000));
    }
  };
}

function isFirstAttempt({ attempts, otherwise }: PendingDelivery): boolean {
  return attempts === 0 && otherwise === undefined;
}

/**
 * Returns the sweep that measures how many circuit breakers are open, and how many owners were warned that their endpoint fails.
 */
export function measureUnhealthyEndpoints(health: Pick<EndpointHealthStore, 'countUnhealthy'>): Sweep {
  return async ({ clock, measures }) => {
    const { open, warned } = await health.countUnhealthy(clock());
    measures.record('CircuitBreakersOpen', open);
    measures.record('EndpointsNearDisabling', warned);
  };
}

export const deliverySweep = /* @__PURE__ */ combine(
  {
    deliveries: dueDeliveries,
    retryQueue: sendTo.deliverSlow,
    isBacklogged: firstAttemptBacklog,
    timing: deliveryTiming,
  },
  sweepDeliveries,
);

export const firstAttemptSweep = /* @__PURE__ */ combine(
  {
    groups: dueFirstAttempts,
    retryQueue: sendTo.deliverSlow,
    isBacklogged: firstAttemptBacklog,
    timing: deliveryTiming,
  },
  sweepFirstAttempts,
);

export const endpointHealthSweep = /* @__PURE__ */ combine({ health: countUnhealthyEndpoints }, ({ health }) =>
  measureUnhealthyEndpoints(health),
);
