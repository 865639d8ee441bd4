import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import { notifyJobs } from '../jobs/jobStore.ts';
import type { EndpointFailure, NotifyOwnerOfFailure } from '../mail/mailFanOut.ts';
import * as logMessages from '../observability/logMessages.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import type { Stored } from '../table/entity.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { DeliveryKey } from './deliveries.ts';
import type { EndpointDisabler } from './disableEndpoints.ts';
import type { EndpointHealthStore } from './endpointHealth.ts';
import { parkingJob } from './parkingJob.ts';
import { findDueWarning, hasFailedTooLong } from './rules/autoDisable.ts';
import { breakerPauses, returnProbe } from './rules/breaker.ts';
import { afterAttempt, type EndpointHealth, healthAt, markSlow } from './rules/health.ts';
import { parkingDueAt } from './rules/parking.ts';
import type { EndpointKey, Target } from './targets.ts';

export interface DisablingPorts {
  readonly health: Pick<EndpointHealthStore, 'get'>;
  readonly endpoints: Pick<EndpointDisabler, 'disable'>;
  readonly notifyOwner: NotifyOwnerOfFailure;
}

export interface HealthPorts extends DisablingPorts {
  readonly health: Pick<EndpointHealthStore, 'get' | 'write'>;
  readonly jobQueue: QueueSender;
  readonly timing: Timing;
  readonly random: () => number;
  /** A batch can have 200 unhealthy endpoints. Requests to healthy ones must not wait for all their writes. */
  readonly yieldToEventLoop: () => Promise<void>;
}

type HealthCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

const TRIES = 5;

export class HealthUpdater {
  readonly #ports: HealthPorts;
  readonly #key: DeliveryKey;
  readonly #call: HealthCall;

  constructor(ports: HealthPorts, key: DeliveryKey, call: HealthCall) {
    this.#ports = ports;
    this.#key = key;
    this.#call = call;
  }

  /**
   * Undefined if the new health is not known. Never throws: SQS would redeliver the message although the attempt is
   * recorded.
   */
  async record(
    target: Stored<Target>,
    read: Stored<EndpointHealth> | undefined,
    result: { readonly delivered: boolean; readonly isProbe: boolean },
  ): Promise<EndpointHealth | undefined> {
    return this.#orLog(() => this.#write(target, read, result));
  }

  async markSlow(target: Stored<Target>): Promise<void> {
    const { health, yieldToEventLoop } = this.#ports;
    await yieldToEventLoop();
    await this.#orLog(async () => {
      const stored = await health.get(this.#key);
      if (stored && stored.about > target._r) return;
      const current = healthAt(stored, target._r);
      const next = markSlow(current, this.#call.clock());
      if (next !== current) await health.write(this.#key, next, stored);
    });
  }

  /** The probe has sent nothing, so another attempt can be the probe at once. Logs errors and does not throw. */
  async returnProbe(taken: Stored<EndpointHealth>): Promise<void> {
    const now = this.#call.clock();
    const next = { ...taken, breaker: returnProbe(taken.breaker, now), writtenAt: now };
    await this.#orLog(async () => {
      if ((await this.#ports.health.write(this.#key, next, taken)) === 'done')
        await this.#notifyParkingJob(parkingDueAt(taken, next), now);
    });
  }

  async #orLog<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { eventId, endpointId } = this.#key;
      this.#call.log.error(logMessages.endpointHealthUpdateFailed, { eventId, endpointId, error });
      return undefined;
    }
  }

  async #write(
    target: Stored<Target>,
    read: Stored<EndpointHealth> | undefined,
    result: { readonly delivered: boolean; readonly isProbe: boolean },
  ): Promise<EndpointHealth | undefined> {
    const { health, random, timing } = this.#ports;
    const pauses = breakerPauses(timing.schedule);
    let stored = read;
    for (let i = 0; i < TRIES; i++) {
      // The stored health is of a newer revision of the endpoint than this attempt used.
      if (stored && stored.about > target._r) return undefined;
      const current = healthAt(stored, target._r);
      const now = this.#call.clock();
      const next = afterAttempt(current, { ...result, random: random(), now }, pauses);
      // Without this write, the sweep would read health of an older revision every minute.
      const isOutdated = stored !== undefined && stored.about !== target._r;
      if (next === current && !isOutdated) return current;
      const warned = await this.#warn(target, { ...next, writtenAt: now }, now);
      if ((await health.write(this.#key, warned, stored)) === 'done') {
        if (next.breaker.open && !current.breaker.open) this.#call.measures.count('CircuitBreakersOpened');
        await this.#notifyParkingJob(parkingDueAt(stored, warned), now);
        return warned;
      }
      stored = await health.get(this.#key);
    }
    return undefined;
  }

  async #notifyParkingJob(dueAt: number | undefined, now: number): Promise<void> {
    if (dueAt === undefined) return;
    const { tenant, endpointId } = this.#key;
    const { jobId } = parkingJob(endpointId, dueAt);
    // Clocks differ, and a job that is not due does not run, so the message arrives a second after the pause.
    const delaySeconds = dueAt > now ? Math.min(MAX_DELAY_SECONDS, Math.ceil((dueAt - now) / 1000) + 1) : 0;
    await notifyJobs(this.#ports.jobQueue, [{ tenant, jobId }], this.#call.log, delaySeconds);
  }

  async #warn({ kind, url }: Target, health: EndpointHealth, now: number): Promise<EndpointHealth> {
    const { failing } = health;
    const stage = failing && kind === 'advanced' ? findDueWarning(failing, now) : undefined;
    if (!failing || stage === undefined) return health;
    const failure = { url, stage, failingSince: failing.since };
    const isSent = await notifyOwner(this.#ports, this.#key, this.#call, failure);
    return isSent ? { ...health, failing: { ...failing, warned: stage } } : health;
  }
}

/** URLs of basic webhooks are never disabled, because customers could not see that they are. */
export async function disableIfFailedTooLong(
  ports: DisablingPorts,
  key: EndpointKey,
  call: HealthCall,
  target: Stored<Target>,
  health: EndpointHealth | undefined,
): Promise<void> {
  const now = call.clock();
  const { failing: known } = healthAt(health, target._r);
  if (target.kind !== 'advanced' || !known || !hasFailedTooLong(known, now)) return;
  const { tenant, endpointId } = key;
  // Another attempt may have succeeded in the meantime.
  const { failing } = healthAt(await ports.health.get(key), target._r);
  if (!failing || !hasFailedTooLong(failing, now)) return;
  const outcome = await ports.endpoints.disable(key, target._r, failing.since, now);
  if (outcome === 'lost') return;
  call.measures.count('EndpointsDisabled');
  call.log.warn(logMessages.webhookEndpointDisabled, { tenant, endpointId });
  await notifyOwner(ports, key, call, { url: target.url, stage: 'disabled', failingSince: failing.since });
}

async function notifyOwner(
  ports: DisablingPorts,
  { tenant, endpointId }: EndpointKey,
  { log }: HealthCall,
  failure: Omit<EndpointFailure, 'endpointId'>,
): Promise<boolean> {
  try {
    await ports.notifyOwner(tenant, { endpointId, ...failure });
    return true;
  } catch (error) {
    log.error(logMessages.ownerNotificationFailed, { endpointId, stage: failure.stage, error });
    return false;
  }
}
