import { combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { ItemPage } from '../table/pages.ts';
import type { PageOptions } from '../table/table.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type ShardSweep, type Sweep, sweepPages } from '../workers/sweep.ts';
import { type DeliveryStore, dueDeliveries } from './deliveries.ts';
import { deliveryTiming, firstAttemptMessage, nextAttemptMessages } from './deliveryMessage.ts';
import { countUnhealthyEndpoints, type EndpointHealthStore } from './endpointHealth.ts';
import { firstAttemptBacklog, type IsBacklogged } from './firstAttemptBacklog.ts';
import { dueFirstAttempts, type FirstAttemptStore } from './firstAttempts.ts';
import { afterSweep, isClaimed, type PendingDelivery } from './rules/delivery.ts';

export interface DeliverySweepPorts {
  readonly deliveries: Pick<DeliveryStore, 'listDue' | 'replace'>;
  readonly groups: Pick<FirstAttemptStore, 'listDue' | 'postpone'>;
  readonly retryQueue: QueueSender;
  readonly isBacklogged: IsBacklogged;
  readonly timing: Timing;
}

/** All shards of a batch together use about as many connections as the SDK has. */
const PARALLEL = 4;

/**
 * A conditional write postpones each delivery before its message is sent, so one of two simultaneous sweeps sends it.
 * While the queue of first attempts is long, their messages are not sent again.
 */
export function sweepDeliveries({ deliveries, ...ports }: Omit<DeliverySweepPorts, 'groups'>): ShardSweep {
  return sweepOverdue(ports, {
    listDue: (shard, at, options) => deliveries.listDue(shard, at, options),
    dueSince: ({ nextAt }) => nextAt,
    async postpone(delivery, now, isBacklogged) {
      const stored = await deliveries.replace(delivery, afterSweep(delivery, now, ports.timing));
      const isQueued = isClaimed(delivery, now) || (isBacklogged && isFirstAttempt(delivery));
      return stored === 'lost' || isQueued ? [] : nextAttemptMessages(stored, now);
    },
  });
}

export function sweepFirstAttempts({ groups, ...ports }: Omit<DeliverySweepPorts, 'deliveries'>): ShardSweep {
  return sweepOverdue(ports, {
    listDue: (shard, at, options) => groups.listDue(shard, at, options),
    dueSince: ({ createdAt }) => createdAt,
    async postpone(group, now, isBacklogged) {
      const outcome = await groups.postpone(group, now, ports.timing);
      return outcome === 'lost' || isBacklogged ? [] : [firstAttemptMessage(group, 0)];
    },
  });
}

interface OverdueWork<V> {
  readonly listDue: (shard: number, at: number, options: PageOptions) => Promise<ItemPage<V>>;
  readonly dueSince: (value: V) => number;
  readonly postpone: (value: V, now: number, isBacklogged: boolean) => Promise<readonly QueueMessage[]>;
}

function sweepOverdue<V>(
  { retryQueue, isBacklogged: readBacklog, timing }: Omit<DeliverySweepPorts, 'deliveries' | 'groups'>,
  { listDue, dueSince, postpone }: OverdueWork<V>,
): ShardSweep {
  return async (shard, call) => {
    const startedAt = call.clock();
    const isBacklogged = await readBacklog(call);
    let [due, overdue, oldest] = [0, 0, 0];
    try {
      await sweepPages(
        call,
        (options) => listDue(shard, startedAt, options),
        async (values) => {
          const delays = values.map((value) => startedAt - dueSince(value));
          due += delays.length;
          overdue += delays.filter((delay) => delay >= timing.marginMs).length;
          oldest = Math.max(oldest, ...delays);
          const now = call.clock();
          const messages = await inParallel(values, PARALLEL, (value) => postpone(value, now, isBacklogged));
          await retryQueue.send(messages.flat());
        },
      );
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
