import { building, type Capability } from '../../app/capability.ts';
import { attemptDeliveries, type DeliveryStore } from '../deliveries.ts';
import { disableEndpoints, type EndpointDisabler } from '../disableEndpoints.ts';
import { endpointRuntime, type EndpointRuntime } from '../endpointHealth.ts';
import type { Timing } from '../rules/schedule.ts';
import { sendTo } from '../../workers/queues.ts';
import type { QueueSender } from '../../workers/sender.ts';
import { webhookClient, type WebhookClient } from '../transport/send.ts';
import type { MessageCall } from '../../app/worker.ts';
import { type EndpointFailure, type NotifyOwnerOfFailure, notifyOwnersOfFailures } from '../../mail/mailFanOut.ts';
import type { DeliveryMessage } from '../deliveryMessage.ts';
import { webhookRequests, type WebhookRequests } from './request.ts';
import { deliveryTiming } from '../deliveryTiming.ts';
import * as logMessages from '../../observability/logMessages.ts';

/** What delivering needs. */
export interface DeliverDeps {
  readonly deliveries: Pick<DeliveryStore, 'look' | 'get' | 'replace' | 'log'>;
  readonly runtime: Pick<EndpointRuntime, 'health' | 'learn' | 'reserve'>;
  readonly requests: Pick<WebhookRequests, 'prepare'>;
  readonly client: WebhookClient;
  readonly endpoints: Pick<EndpointDisabler, 'disable'>;
  /** The queue of further attempts. */
  readonly slow: QueueSender;
  readonly timing: Timing;
  readonly tellOwner: NotifyOwnerOfFailure;
}

/** A message about a delivery, and everything to act on it. */
export interface Delivering extends Pick<
  MessageCall<DeliveryMessage, Record<never, never>>,
  'message' | 'clock' | 'newId' | 'log' | 'measures'
> {
  readonly deps: DeliverDeps;
  /** The queue that the message comes from: what a rate limit puts off goes there again. */
  readonly own: QueueSender;
  /** Whether the messages are about first attempts: how soon these are made is measured. */
  readonly live: boolean;
  /** A number from 0 to 1. */
  readonly random: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Deliver webhooks. The ports of everything that an attempt touches. */
export const delivers: Capability<DeliverDeps> = /* @__PURE__ */ building(
  [
    attemptDeliveries,
    endpointRuntime,
    webhookRequests,
    webhookClient,
    disableEndpoints,
    sendTo.deliverSlow,
    deliveryTiming,
    notifyOwnersOfFailures,
  ],
  {
    grants: [],
    env: [],
    open: (env) => ({
      deliveries: attemptDeliveries.open(env),
      runtime: endpointRuntime.open(env),
      requests: webhookRequests.open(env),
      client: webhookClient.open(env),
      endpoints: disableEndpoints.open(env),
      slow: sendTo.deliverSlow.open(env),
      timing: deliveryTiming.open(env),
      tellOwner: notifyOwnersOfFailures.open(env),
    }),
  },
);

type Call = Omit<Delivering, 'deps' | 'own' | 'live' | 'random' | 'pause'> & {
  readonly deps: { readonly delivers: DeliverDeps; readonly own: QueueSender };
};

/** What `deliver` needs, of the call of a worker. */
export function deliveringWith(
  { deps: { delivers: deps, own }, message, clock, newId, log, measures }: Call,
  live: boolean,
): Delivering {
  const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  return { deps, own, message, clock, newId, log, measures, live, random: Math.random, pause };
}

/** Tells the owner of trouble with the endpoint of a message; false when that was not possible. Deliveries do not depend on it. */
export async function tellOwner(
  { deps, message, log }: Delivering,
  trouble: Omit<EndpointFailure, 'endpointId'>,
): Promise<boolean> {
  const { tenant, endpointId } = message;
  try {
    await deps.tellOwner(tenant, { endpointId, ...trouble });
    return true;
  } catch (error) {
    log.error(logMessages.ownerNotificationFailed, { endpointId, stage: trouble.stage, error });
    return false;
  }
}
