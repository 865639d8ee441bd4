import * as z from 'zod';
import { combine } from '../app/capability.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { StepCall } from '../jobs/runJob.ts';
import { notifyOwnersOfFailures } from '../mail/mailFanOut.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type DeliveryStore, dueDeliveries } from './deliveries.ts';
import { deliveryTiming, nextAttemptMessages } from './deliveryMessage.ts';
import { disableEndpoints } from './disableEndpoints.ts';
import { writeEndpointHealth } from './endpointHealth.ts';
import { exhaustedEvent, isExhaustion } from './exhaustedEvent.ts';
import { endParkedDeliveries, type EndpointState, type ParkedDeliveryStore } from './parkedDeliveries.ts';
import { ParkingJob } from './parkingJob.ts';
import { PROBE_LEASE } from './rules/breaker.ts';
import { endDelivery, unparkDelivery } from './rules/delivery.ts';
import { matchesEndpoint, matchingBasicTargets } from './rules/matching.ts';
import { decideParking, planRelease } from './rules/parking.ts';
import { readSubscriptions, type SubscriptionReader } from './subscriptions.ts';
import type { EndpointKey } from './targets.ts';
import { disableIfFailedTooLong, type DisablingPorts } from './updateHealth.ts';

export interface ReleasePorts extends DisablingPorts {
  readonly parked: Pick<ParkedDeliveryStore, 'readEndpoint' | 'listOldest' | 'writeListedEvent'>;
  readonly deliveries: Pick<DeliveryStore, 'replace'>;
  readonly subscriptions: Pick<SubscriptionReader, 'read'>;
  readonly retryQueue: QueueSender;
  readonly timing: Timing;
}

const PAGE = 500;
const PARALLEL = 16;
/** The index can still list deliveries that are not parked any more. The next step then waits this long (ms). */
const STALE_INDEX = 5_000;

const Progress = z.object({
  emptySince: z.number().optional(),
});

/**
 * Every write is conditional, so a step can run twice. The job ends when no step has found a parked delivery for a
 * minute: a worker that read an open breaker before this time has parked its delivery by its end.
 */
export async function releaseParkedStep(
  ports: ReleasePorts,
  { tenant, data, progress }: Pick<StoredJob, 'tenant' | 'data' | 'progress'>,
  clock: () => number,
  call: StepCall,
): Promise<StepResult> {
  const { endpointId } = ParkingJob.parse(JSON.parse(data));
  const { emptySince } = Progress.parse(JSON.parse(progress ?? '{}'));
  const release = new ParkedRelease(ports, { tenant, endpointId }, clock, call);
  const result = await release.step();
  if (result !== 'empty') return { progress: {}, ...result };
  const now = clock();
  const endsAt = (emptySince ?? now) + REQUESTS_ENDED_MS;
  return now >= endsAt ? 'done' : { progress: { emptySince: emptySince ?? now }, notBefore: endsAt };
}

interface NextStep {
  readonly notBefore: number | undefined;
  readonly isPaced?: boolean;
}

class ParkedRelease {
  readonly #ports: ReleasePorts;
  readonly #key: EndpointKey;
  readonly #clock: () => number;
  readonly #call: StepCall;

  constructor(ports: ReleasePorts, key: EndpointKey, clock: () => number, call: StepCall) {
    this.#ports = ports;
    this.#key = key;
    this.#clock = clock;
    this.#call = call;
  }

  async step(): Promise<NextStep | 'empty'> {
    const endpoint = await this.#ports.parked.readEndpoint(this.#key);
    const now = this.#clock();
    const action = decideParking(endpoint.target, endpoint.health, now);
    if (action.do === 'cancel') return this.#cancel();
    if (await this.#exhaust(endpoint, now)) return { notBefore: undefined };
    if (action.do === 'wait') return { notBefore: action.until };
    return action.do === 'probe' ? this.#probe() : this.#release(endpoint, now);
  }

  async #cancel(): Promise<NextStep | 'empty'> {
    const { deliveries, isEmpty } = await this.#ports.parked.listOldest(this.#key, PAGE);
    if (isEmpty) return 'empty';
    await inParallel(deliveries, PARALLEL, async (delivery) => {
      await this.#ports.deliveries.replace(delivery, endDelivery(delivery, 'CANCELLED'));
    });
    return { notBefore: deliveries.length > 0 ? undefined : this.#clock() + STALE_INDEX };
  }

  async #exhaust({ target, health }: EndpointState, now: number): Promise<boolean> {
    const { parked, deliveries } = this.#ports;
    const { tenant } = this.#key;
    const page = await parked.listOldest(this.#key, PAGE, now - 1);
    if (page.deliveries.length === 0) return false;
    const isReceived = await this.#isExhaustionReceived();
    let exhausted = 0;
    await inParallel(page.deliveries, PARALLEL, async (delivery) => {
      const next = endDelivery(delivery, 'EXHAUSTED');
      const event = exhaustedEvent(tenant, delivery, next, now, { isReceived });
      // A transaction costs twice as much as single writes, so an event that no endpoint receives is written first,
      // without one. A repeated step does not write it again.
      if (!isReceived) await parked.writeListedEvent(event);
      const stored = await deliveries.replace(delivery, next, isReceived ? event : []);
      if (stored !== 'lost' && isExhaustion(delivery, next)) exhausted++;
    });
    this.#call.measures.count('DeliveriesExhausted', exhausted);
    if (target && exhausted > 0) {
      const call = { ...this.#call, clock: this.#clock };
      await disableIfFailedTooLong(this.#ports, this.#key, call, target, health);
    }
    return exhausted > 0;
  }

  async #isExhaustionReceived(): Promise<boolean> {
    const event = { event: 'message.attempt.exhausted' };
    const { endpoints, basic } = await this.#ports.subscriptions.read(this.#key.tenant);
    return (
      [...endpoints.values()].some((endpoint) => matchesEndpoint(event, endpoint)) ||
      matchingBasicTargets(event, basic).length > 0
    );
  }

  /** The result of the probe starts the job again. */
  async #probe(): Promise<NextStep | 'empty'> {
    const { deliveries, isEmpty } = await this.#ports.parked.listOldest(this.#key, 1);
    if (isEmpty) return 'empty';
    const now = this.#clock();
    const due = deliveries.map((delivery) => unparkDelivery(delivery, now, now, this.#ports.timing));
    await this.#ports.retryQueue.send(due.flatMap((delivery) => nextAttemptMessages(delivery, now)));
    return { notBefore: now + (deliveries.length > 0 ? PROBE_LEASE : STALE_INDEX) };
  }

  async #release({ target, freeSlot }: EndpointState, now: number): Promise<NextStep | 'empty'> {
    const { deliveries: store, parked, timing } = this.#ports;
    const { count, attemptAt } = planRelease({ rateLimit: target?.rateLimit, freeSlot }, now);
    const { deliveries, isEmpty } = await parked.listOldest(this.#key, Math.max(1, count));
    if (isEmpty) return 'empty';
    if (count === 0) return { notBefore: now + STALE_INDEX };
    const outcomes = await inParallel(deliveries, PARALLEL, (delivery, position) =>
      store.replace(delivery, unparkDelivery(delivery, attemptAt(position), now, timing)),
    );
    const released = outcomes.filter((outcome) => outcome !== 'lost');
    this.#call.measures.count('DeliveriesReleased', released.length);
    await this.#ports.retryQueue.send(released.flatMap((delivery) => nextAttemptMessages(delivery, this.#clock())));
    const notBefore = Math.max(attemptAt(deliveries.length), now + 1_000);
    return { notBefore, isPaced: released.length > 0 };
  }
}

export const releaseParked = /* @__PURE__ */ combine({
  parked: endParkedDeliveries,
  deliveries: dueDeliveries,
  subscriptions: readSubscriptions,
  health: writeEndpointHealth,
  endpoints: disableEndpoints,
  notifyOwner: notifyOwnersOfFailures,
  retryQueue: sendTo.deliverSlow,
  timing: deliveryTiming,
});
