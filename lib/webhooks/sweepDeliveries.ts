import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { type Capability, combine } from '../app/capability.ts';
import { eventShards } from '../events/outbox.ts';
import * as logMessages from '../observability/logMessages.ts';
import { inParallel } from '../shared/inParallel.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueSender } from '../workers/sender.ts';
import { openSqs } from '../workers/sqsClient.ts';
import { type Sweep, type SweepCall, sweepShards } from '../workers/sweep.ts';
import { type DeliveryStore, dueDeliveries, type StoredDelivery } from './deliveries.ts';
import { deliveryTiming, nextAttemptMessages } from './deliveryMessage.ts';
import { countUnhealthyEndpoints, type EndpointHealthStore } from './endpointHealth.ts';
import { afterSweep, isClaimed, type PendingDelivery } from './rules/delivery.ts';
import type { Timing } from './rules/schedule.ts';

export interface DeliverySweepPorts {
  readonly deliveries: Pick<DeliveryStore, 'due' | 'replace'>;
  readonly retryQueue: QueueSender;
  /** Returns about how many messages wait in the queue of first attempts. */
  readonly backlog: () => Promise<number>;
  readonly timing: Timing;
}

/** Writes of one shard in parallel. All shards together use about as many connections as the SDK has. */
const PARALLEL = 4;
/** How many first attempts wait while their consumers keep up: about as many as run at the same time. */
const NORMAL_BACKLOG = 1_000;

/**
 * Returns the sweep that sends the messages of due deliveries. Each delivery is first postponed by a conditional write. Of two sweepers only
 * one therefore sends, and a message that is lost in between is sent by a later run. During a backlog, first attempts are only postponed:
 * their messages are in the queue, and copies would make it longer.
 */
export function sweepDeliveries({ backlog, deliveries, retryQueue, timing }: DeliverySweepPorts): Sweep {
  return async (call) => {
    const startedAt = call.clock();
    const isBacklogged = await hasBacklog(backlog, call);
    let [due, overdue, oldest] = [0, 0, 0];
    await sweepShards(
      eventShards,
      call,
      (shard, options) => deliveries.due(shard, startedAt, options),
      async (values) => {
        const delays = values.map(({ nextAt }) => startedAt - nextAt).filter((delay) => delay >= timing.marginMs);
        due += values.length;
        overdue += delays.length;
        oldest = Math.max(oldest, ...delays);
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
    call.measures.record('DeliveriesDue', due);
    call.measures.record('DeliveriesOverdue', overdue);
    call.measures.record('OldestOverdueDeliveryAge', Math.round(oldest / 1000));
  };
}

/** Whether first attempts wait longer than usual. If the queue cannot be read, the growing margin of each delivery limits the copies. */
async function hasBacklog(backlog: DeliverySweepPorts['backlog'], { log }: SweepCall): Promise<boolean> {
  try {
    return (await backlog()) > NORMAL_BACKLOG;
  } catch (error) {
    log.warn(logMessages.webhookBacklogUnknown, { error });
    return false;
  }
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

const firstAttemptBacklog: Capability<() => Promise<number>> = {
  grants: [{ resource: 'queue/deliver', actions: ['GetQueueAttributes'] }],
  env: ['DELIVER_QUEUE_URL'],
  open: (env) => {
    const url = env.DELIVER_QUEUE_URL;
    return async () => {
      const { Attributes } = await openSqs().send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
    };
  },
};

export const deliverySweep = /* @__PURE__ */ combine(
  { deliveries: dueDeliveries, retryQueue: sendTo.deliverSlow, backlog: firstAttemptBacklog, timing: deliveryTiming },
  sweepDeliveries,
);

export const endpointHealthSweep = /* @__PURE__ */ combine({ health: countUnhealthyEndpoints }, ({ health }) =>
  measureUnhealthyEndpoints(health),
);
