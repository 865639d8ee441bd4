import type { Uses } from '../app/capability.ts';
import type { WorkerCall } from '../app/worker.ts';
import type { EndpointFailure, NotifyOwnerOfFailure } from '../mail/mailFanOut.ts';
import * as logMessages from '../observability/logMessages.ts';
import type { Stored } from '../table/entity.ts';
import type { DeliveryKey } from './deliveries.ts';
import type { EndpointHealthStore } from './endpointHealth.ts';
import type { EndpointDisabler } from './disableEndpoints.ts';
import { isGivenUp, warningDue } from './rules/autoDisable.ts';
import { breakerPauses } from './rules/breaker.ts';
import { afterAttempt, type EndpointHealth, healthAt } from './rules/health.ts';
import type { Timing } from './rules/schedule.ts';
import type { Target } from './targets.ts';

/** What a health update reads and writes. */
export interface HealthPorts {
  readonly health: Pick<EndpointHealthStore, 'get' | 'write'>;
  readonly endpoints: Pick<EndpointDisabler, 'disable'>;
  readonly notifyOwner: NotifyOwnerOfFailure;
  readonly timing: Timing;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
}

type HealthCall = Pick<WorkerCall<Uses>, 'clock' | 'log' | 'measures'>;

/** How often health is written again while other attempts write it. */
const TRIES = 5;

/** The last step of an attempt: keeps the health of one endpoint, warns its owner, and disables it after days of failures. */
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
   * Stores what an attempt says about its endpoint: for the breaker, and for how long every attempt has failed. Warns the owner when a
   * warning is due. Returns the health after the attempt; undefined when it is not known. Never throws: the attempt is already recorded, and
   * a failed message would be redelivered.
   */
  async record(
    target: Stored<Target>,
    read: Stored<EndpointHealth> | undefined,
    result: { readonly delivered: boolean; readonly isProbe: boolean },
  ): Promise<EndpointHealth | undefined> {
    try {
      return await this.#write(target, read, result);
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
      // A newer revision of the endpoint exists. This attempt says nothing about it.
      if (stored && stored.about > target._r) return undefined;
      const current = healthAt(stored, target._r);
      const now = this.#call.clock();
      const next = afterAttempt(current, { ...result, random: random(), now }, pauses);
      // Health of an older revision is replaced even if nothing changed: the sweeper would read it every minute.
      const isOutdated = stored !== undefined && stored.about !== target._r;
      if (next === current && !isOutdated) return current;
      const warned = await this.#warn(target, { ...next, writtenAt: now }, now);
      if ((await health.write(this.#key, warned, stored)) === 'done') {
        if (next.breaker.open && !current.breaker.open) this.#call.measures.count('CircuitBreakersOpened');
        return warned;
      }
      stored = await health.get(this.#key);
    }
    return undefined;
  }

  /** Sends the warning that is due now, if any. Returns the health with the warning noted if it was sent. */
  async #warn({ kind, url }: Target, health: EndpointHealth, now: number): Promise<EndpointHealth> {
    const { failing } = health;
    const stage = failing && kind === 'advanced' ? warningDue(failing, now) : undefined;
    if (!failing || stage === undefined) return health;
    const isSent = await this.#notifyOwner({ url, stage, failingSince: failing.since, now });
    return isSent ? { ...health, failing: { ...failing, warned: stage } } : health;
  }

  /**
   * Disables an advanced endpoint if every attempt has failed for five days, and notifies its owner. Called when a delivery is exhausted.
   * The URLs of basic webhooks are never disabled: they have no such state that a customer could see.
   */
  async disableIfGivenUp(target: Stored<Target>, health: EndpointHealth | undefined): Promise<void> {
    const { clock, log, measures } = this.#call;
    const now = clock();
    if (target.kind !== 'advanced' || !health?.failing || !isGivenUp(health.failing, now)) return;
    const { tenant, endpointId } = this.#key;
    // Read again: a success in the meantime counts.
    const { failing } = healthAt(await this.#ports.health.get(this.#key), target._r);
    if (!failing || !isGivenUp(failing, now)) return;
    const outcome = await this.#ports.endpoints.disable(tenant, target.endpoint, failing.since, now);
    if (outcome === 'lost') return;
    measures.count('EndpointsDisabled');
    log.warn(logMessages.webhookEndpointDisabled, { tenant, endpointId });
    await this.#notifyOwner({ url: target.url, stage: 'disabled', failingSince: failing.since, now });
  }

  /** Notifies the owner of the endpoint. Returns false when that failed; deliveries do not depend on it. */
  async #notifyOwner(trouble: Omit<EndpointFailure, 'endpointId'>): Promise<boolean> {
    const { tenant, endpointId } = this.#key;
    try {
      await this.#ports.notifyOwner(tenant, { endpointId, ...trouble });
      return true;
    } catch (error) {
      this.#call.log.error(logMessages.ownerNotificationFailed, { endpointId, stage: trouble.stage, error });
      return false;
    }
  }
}
