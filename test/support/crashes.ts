/**
 * How a call fails: the process crashes, an unknown error is thrown, the answer is lost and the SDK retries the call, or
 * the process stands still for longer than a lease.
 */
export type Failure = 'crash' | 'error' | 'repetition' | 'stall';

/** A fault of one call, before the call or after its effect. */
export interface Fault {
  /**
   * The name of the call: the command, and the types of its items or its partition. If undefined, the fault can be at
   * any call.
   */
  readonly kind?: string;
  /** Which of the calls with this name has the fault. The first one is 1. */
  readonly occurrence: number;
  readonly failure: Failure;
  readonly when: 'before' | 'after';
}

/** All combinations of a failure and its time that make a difference. */
export const allFailures = [
  { failure: 'crash', when: 'before' },
  { failure: 'crash', when: 'after' },
  { failure: 'error', when: 'before' },
  { failure: 'error', when: 'after' },
  { failure: 'repetition', when: 'after' },
] as const satisfies readonly Omit<Fault, 'occurrence' | 'kind'>[];

/**
 * Returns all faults of each call. A read has only three. For a read, a failure after the call is the same as one
 * before it.
 */
export function everyFault(calls: readonly string[]): Fault[] {
  return calls.flatMap((kind, index) => {
    const count = calls.slice(0, index + 1).filter((name) => name === kind).length;
    return faultsOf(kind).map((failure) => ({ kind, occurrence: count, ...failure }));
  });
}

/**
 * Returns the faults of the first and the last call of each kind. This is enough for work that makes many similar
 * calls.
 */
export function faultsOfEveryKind(calls: readonly string[]): Fault[] {
  const counts = new Map(calls.map((kind) => [kind, calls.filter((name) => name === kind).length] as const));
  return [...counts].flatMap(([kind, count]) =>
    [...new Set([1, count])].flatMap((occurrence) =>
      faultsOf(kind).map((failure) => ({ kind, occurrence, ...failure })),
    ),
  );
}

function faultsOf(kind: string): readonly Omit<Fault, 'occurrence' | 'kind'>[] {
  const reads = /^(Timer )?(Get|BatchGet|Query)/.test(kind);
  return allFailures.slice(0, reads ? 3 : undefined);
}

/** An error that no code expects. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError';
}

/** Counts the calls of all invocations that process one event or job. Injects faults into some of them. */
export class Trial {
  /** The names of all calls so far. */
  readonly calls: string[] = [];
  /** A description of each injected fault. */
  readonly injected: string[] = [];
  readonly faults: readonly Fault[];
  readonly #counts = new Map<string, number>();
  /**
   * How often the stream and the queues deliver a failing record or message. With 1, only the sweep can find its work.
   * With 0, the stream does not deliver the record at all.
   */
  tries: number | undefined;
  /** The number of messages so far. */
  messages = 0;
  /** Which of the messages is lost, and which one arrives twice. The first one is 1. */
  lost = 0;
  copied = 0;
  /** What happens before a call. */
  onCall?: (nth: number, name: string) => Promise<unknown>;

  constructor(...faults: readonly Fault[]) {
    this.faults = faults;
  }

  /** Counts a call. Returns the fault that it has, if any. */
  next(name: string): Fault | undefined {
    this.calls.push(name);
    const ofKind = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, ofKind);
    const fault = this.faults.find(
      ({ kind, occurrence }) => occurrence === (kind === undefined ? this.calls.length : kind === name && ofKind),
    );
    if (fault) this.injected.push(`${fault.failure} ${fault.when} call ${fault.occurrence}, ${name}`);
    return fault;
  }
}

/**
 * Returns a trial for each fault, or for several of one trial. In every second trial, the stream and the queues lose
 * records and messages that fail, so that calls are tested both with and without redelivery.
 */
export function trialsOf(faults: readonly (Fault | readonly Fault[])[]): Trial[] {
  return faults.map((each, index) => Object.assign(new Trial(...[each].flat()), { tries: index % 2 === 1 ? 1 : 3 }));
}

const never = new Promise<never>(() => undefined);

/** One invocation of a function in a simulated process. */
export class Invocation {
  /** Rejects when the process crashes. */
  readonly crashed: Promise<never>;
  readonly trial: Trial | undefined;
  #over = false;
  #crash: (error: Error) => void = () => undefined;
  readonly #stall: () => Promise<void>;

  constructor(trial?: Trial, stall = async (): Promise<void> => undefined) {
    this.trial = trial;
    this.#stall = stall;
    this.crashed = new Promise((_resolve, reject) => {
      this.#crash = reject;
    });
    this.crashed.catch(() => undefined);
  }

  /** Whether the process has crashed. Calls that were still running then never return. */
  get hasCrashed(): boolean {
    return this.#over;
  }

  /** Makes a call in the process, with the fault of the trial. With `once`, the SDK does not retry the call. */
  async call<T>(name: string, effect: () => Promise<T>, once = false): Promise<T> {
    if (this.#over) return never;
    const fault = this.trial?.next(name);
    const activeFault = fault && !(once && fault.failure === 'repetition') ? fault : undefined;
    await this.trial?.onCall?.(this.trial.calls.length, name);
    if (activeFault?.failure === 'stall') {
      await this.#stall();
      return this.hasCrashed ? never : effect();
    }
    if (activeFault?.when === 'before') return this.#fail(activeFault.failure);
    const outcome = await outcomeOf(effect());
    if (this.hasCrashed) return never;
    if (activeFault?.failure === 'repetition') return effect().catch(asRepetition);
    if (activeFault) return this.#fail(activeFault.failure);
    return outcome();
  }

  #fail(failure: Failure): Promise<never> {
    const error = new InjectedError(failure);
    if (failure !== 'crash') return Promise.reject(error);
    this.#over = true;
    this.#crash(error);
    return never;
  }
}

/** Waits for a promise. Returns a function that then returns the promise's value or throws its error. */
async function outcomeOf<T>(work: Promise<T>): Promise<() => T> {
  try {
    const value = await work;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Throws an error with the number of attempts that the SDK adds after retries. */
function asRepetition(error: Error & { $metadata?: { attempts?: number } }): never {
  if (error.$metadata) error.$metadata.attempts = 2;
  throw error;
}
