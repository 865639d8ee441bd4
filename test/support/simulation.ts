import { AsyncLocalStorage } from 'node:async_hooks';

/** An AWS call, with the names of the SDK. */
export interface ServiceCall {
  /** The `serviceId` of the client's configuration. */
  readonly service: string;
  readonly operation: string;
  readonly input: Record<string, any>;
}

/** What a simulation puts in the place of the clock, random numbers and AWS while its work runs. */
export interface Simulation {
  readonly clock: () => number;
  readonly random: () => number;
  /** Answers a call of the work. `send` makes the real call. */
  readonly answer: (call: ServiceCall, send: () => Promise<any>) => Promise<any>;
}

export const activeSimulation = new AsyncLocalStorage<Simulation>();

const { random } = Math;
// Code under test keeps references to `Math.random`, as to `Date.now` (stillClock.ts).
Math.random = () => (activeSimulation.getStore()?.random ?? random)();
