import { combine } from '../app/capability.ts';
import { outboxShards } from '../events/outbox.ts';
import { inParallel } from '../shared/inParallel.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueSender } from '../workers/sender.ts';
import { type Sweep, sweepShards } from '../workers/sweep.ts';
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
  /** Whether the queue of first attempts is long. */
  readonly isBacklogged: IsBacklogged;
  readonly timing: Timing;
}

/** The number of writes of one shard at the same time. All shards together use about as many connections as the SDK has. */
const PARALLEL = 4;

/**
 * Returns the sweep that sends the messages of due deliveries and of first attempts that have not ended. A conditional write
 * postpones each of them before its message is sent. Two sweepers therefore send it only once, and a later run sends a message that
 * is lost.
 *
 * During a backlog, first attempts are only postponed. Their messages are still in the queue, and copies would make the queue
 * longer.
 */
export function sweepDeliveries({
  deliveries,
  groups,
  isBacklogged: readBacklog,
  retryQueue,
  timing,
}: DeliverySweepPorts): Sweep {
  return async (call) => {
    const startedAt = call.clock();
    const isBacklogged = await readBacklog(call);
    let [due, overdue, oldest] = [0, 0, 0];
    const measure = (delays: readonly number[]) => {
      const late = delays.filter((delay) => delay >= timing.marginMs);
      due += delays.length;
      overdue += late.length;
      oldest = Math.max(oldest, ...late);
    };
    const sweepRows = sweepShards(
      outboxShards,
      call,
      (shard, options) => deliveries.listDue(shard, startedAt, options),
      async (values) => {
        measure(values.map(({ nextAt }) => startedAt - nextAt));
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
    const sweepGroups = sweepShards(
      outboxShards,
      call,
      (shard, options) => groups.listDue(shard, startedAt, options),
      async (values) => {
        measure(values.map(({ createdAt }) => startedAt - createdAt));
        const now = call.clock();
        const postponed: FirstAttemptGroup[] = [];
        await inParallel(values, PARALLEL, async (group) => {
          if ((await groups.postpone(group, now, timing)) === 'done' && !isBacklogged) postponed.push(group);
        });
        await retryQueue.send(postponed.map((group) => firstAttemptMessage(group, 0)));
      },
    );
    const results = await Promise.allSettled([sweepRows, sweepGroups]);
    call.measures.record('DeliveriesDue', due);
    call.measures.record('DeliveriesOverdue', overdue);
    call.measures.record('OldestOverdueDeliveryAge', Math.round(oldest / 1000));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
}

function isFirstAttempt({ attempts, otherwise }: PendingDelivery): boolean {
  return attempts === 0 && otherwise === undefined;
}

/** Returns the sweep that measures how many breakers are open and how many endpoints are near automatic disabling. */
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
    groups: dueFirstAttempts,
    retryQueue: sendTo.deliverSlow,
    isBacklogged: firstAttemptBacklog,
    timing: deliveryTiming,
  },
  sweepDeliveries,
);

export const endpointHealthSweep = /* @__PURE__ */ combine({ health: countUnhealthyEndpoints }, ({ health }) =>
  measureUnhealthyEndpoints(health),
);
