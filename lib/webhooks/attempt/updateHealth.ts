import type { Target } from '../targets.ts';
import type { Stored } from '../../table/entity.ts';
import { warningDue } from '../rules/autoDisable.ts';
import { pausesFor } from '../rules/breaker.ts';
import { afterAttempt, type EndpointHealth, healthAt } from '../rules/health.ts';
import type { NearTurn } from './reserveSlot.ts';
import { type Delivering, tellOwner } from './attemptContext.ts';
import * as logMessages from '../../observability/logMessages.ts';

/** What is known of the endpoint when an attempt is made. */
export interface Circumstances {
  /** What is stored of its health. */
  readonly stored: Stored<EndpointHealth> | undefined;
  /** Whether it is the attempt that finds out whether the endpoint is well again. */
  readonly probe: boolean;
  /** Its place in the endpoint's rate limit, where that has one. */
  readonly turn?: NearTurn | undefined;
}

/** How often what was learnt is written again when others learn at the same time. */
const TRIES = 5;

/**
 * Takes down what an attempt shows of its endpoint: for the breaker, and for how long nothing has succeeded; warns the owner when that has
 * been for long. Gives what is known then. The attempt is over and counts, so nothing that goes wrong here may bring its message back.
 */
export async function learn(
  delivering: Delivering,
  target: Stored<Target>,
  { stored, probe }: Circumstances,
  delivered: boolean,
): Promise<EndpointHealth | undefined> {
  const {
    message: { eventId, endpointId },
    log,
  } = delivering;
  try {
    return await takeDown(delivering, target, stored, { delivered, probe });
  } catch (error) {
    log.error(logMessages.endpointHealthUpdateFailed, { eventId, endpointId, error });
    return undefined;
  }
}

async function takeDown(
  delivering: Delivering,
  target: Stored<Target>,
  stored: Stored<EndpointHealth> | undefined,
  result: { delivered: boolean; probe: boolean },
): Promise<EndpointHealth | undefined> {
  const { deps, message, clock, measures, random } = delivering;
  const pauses = pausesFor(deps.timing.schedule);
  let read = stored;
  for (let i = 0; i < TRIES; i++) {
    // Somebody has changed the endpoint since we read it: what we know is of the one before.
    if (read && read.about > target._r) return undefined;
    const known = healthAt(read, target._r);
    const now = clock();
    const next = afterAttempt(known, { ...result, random: random(), now }, pauses);
    // What is known of the endpoint before it was changed goes too: the sweeper would look at it each minute for as long as it is stored.
    const outdated = read !== undefined && read.about !== target._r;
    if (next === known && !outdated) return known;
    const warned = await withWarning(delivering, target, { ...next, writtenAt: now }, now);
    if ((await deps.runtime.learn(message, warned, read)) === 'done') {
      if (next.breaker.open && !known.breaker.open) measures.count('CircuitBreakersOpened');
      return warned;
    }
    read = await deps.runtime.health(message);
  }
  return undefined;
}

/** What is known, with the warning that is due now and that the owner has been given. */
async function withWarning(
  delivering: Delivering,
  { kind, url }: Target,
  health: EndpointHealth,
  now: number,
): Promise<EndpointHealth> {
  const { failing } = health;
  const stage = failing && kind === 'advanced' ? warningDue(failing, now) : undefined;
  if (!failing || stage === undefined) return health;
  const told = await tellOwner(delivering, { url, stage, failingSince: failing.since, now });
  return told ? { ...health, failing: { ...failing, warned: stage } } : health;
}
