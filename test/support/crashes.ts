/** How a call fails: the process crashes, an unknown error is thrown, or the answer is lost and the SDK retries the call. */
export type Mishap = 'crash' | 'error' | 'repetition';

/** A fault at the call with this number among the calls of one kind, counted from 1. It happens before the call or after its effect. */
export interface Fault {
  /** The name of the call: the command, and the types of the items that it writes or the partition that it queries. Undefined: calls of any kind. */
  readonly kind?: string;
  readonly at: number;
  readonly mishap: Mishap;
  readonly when: 'before' | 'after';
}

/** All combinations of a mishap and its time. */
export const everyMishap = [
  { mishap: 'crash', when: 'before' },
  { mishap: 'crash', when: 'after' },
  { mishap: 'error', when: 'before' },
  { mishap: 'error', when: 'after' },
  { mishap: 'repetition', when: 'after' },
] as const satisfies readonly Omit<Fault, 'at' | 'kind'>[];

/** Returns the faults of each call of each kind. For a read, only one error is needed, and a repetition has no effect. */
export function everyFault(calls: readonly string[]): Fault[] {
  return calls.flatMap((kind, index) => {
    const at = calls.slice(0, index + 1).filter((name) => name === kind).length;
    return faultsOf(kind).map((mishap) => ({ kind, at, ...mishap }));
  });
}

/** Returns the faults of the first and the last call of each kind, for work with many calls of the same kind. */
export function faultsOfEveryKind(calls: readonly string[]): Fault[] {
  const counts = new Map(calls.map((kind) => [kind, calls.filter((name) => name === kind).length] as const));
  return [...counts].flatMap(([kind, count]) =>
    [...new Set([1, count])].flatMap((at) => faultsOf(kind).map((mishap) => ({ kind, at, ...mishap }))),
  );
}

function faultsOf(kind: string): readonly Omit<Fault, 'at' | 'kind'>[] {
  const reads = /^(Get|BatchGet|Query)/.test(kind);
  return everyMishap.slice(0, reads ? 3 : undefined);
}

/** An error that no code handles. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError';
}

/** Counts the calls of all invocations about one subject, and injects faults into some of them. */
export class Trial {
  /** The names of the calls so far. */
  readonly calls: string[] = [];
  /** Descriptions of the injected faults. */
  readonly struck: string[] = [];
  readonly faults: readonly Fault[];
  /** Whether the stream and the queues lose what fails, so that the sweeper must find it. */
  isLossy = false;

  constructor(...faults: readonly Fault[]) {
    this.faults = faults;
  }

  /** Counts a call. Returns its fault, if any. */
  next(name: string): Fault | undefined {
    this.calls.push(name);
    const ofKind = this.calls.filter((call) => call === name).length;
    const fault = this.faults.find(
      ({ kind, at }) => at === (kind === undefined ? this.calls.length : kind === name && ofKind),
    );
    if (fault) this.struck.push(`${fault.mishap} ${fault.when} call ${fault.at}, ${name}`);
    return fault;
  }
}

const never = new Promise<never>(() => undefined);

/** One invocation of a function, in a simulated process of its own. */
export class Invocation {
  /** Rejects when the process crashes. */
  readonly crashed: Promise<never>;
  readonly trial: Trial | undefined;
  #over = false;
  #crash: (error: Error) => void = () => undefined;

  constructor(trial?: Trial) {
    this.trial = trial;
    this.crashed = new Promise((_resolve, reject) => {
      this.#crash = reject;
    });
    this.crashed.catch(() => undefined);
  }

  /** Whether the process has crashed. Its pending calls then never return. */
  get over(): boolean {
    return this.#over;
  }

  /** Makes a call that leaves the process. `once`: the SDK does not retry this call. */
  async call<T>(name: string, effect: () => Promise<T>, once = false): Promise<T> {
    if (this.#over) return never;
    const fault = this.trial?.next(name);
    const goesWrong = fault && !(once && fault.mishap === 'repetition') ? fault : undefined;
    if (goesWrong?.when === 'before') return this.#fail(goesWrong.mishap);
    const outcome = await settled(effect());
    if (this.over) return never;
    if (goesWrong?.mishap === 'repetition') return effect().catch(asRepetition);
    if (goesWrong) return this.#fail(goesWrong.mishap);
    return outcome();
  }

  #fail(mishap: Mishap): Promise<never> {
    const error = new InjectedError(mishap);
    if (mishap !== 'crash') return Promise.reject(error);
    this.#over = true;
    this.#crash(error);
    return never;
  }
}

/** Waits for a promise. Returns a function that returns its value or throws its error. */
async function settled<T>(work: Promise<T>): Promise<() => T> {
  try {
    const value = await work;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Throws an error with the attempt count that the SDK sets after a retry. */
function asRepetition(error: Error & { $metadata?: { attempts?: number } }): never {
  if (error.$metadata) error.$metadata.attempts = 2;
  throw error;
}
