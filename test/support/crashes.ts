/** How a call goes wrong: the process ends at it; it fails with an error that no code knows; or its answer is lost and the SDK makes it once more. */
export type Mishap = 'crash' | 'error' | 'repetition';

/** What goes wrong, and at which call, counted from 1; before it is made, or when it has had its effect. */
export interface Fault {
  readonly at: number;
  readonly mishap: Mishap;
  readonly when: 'before' | 'after';
}

/** Every way in which a call can go wrong. */
export const everyMishap = [
  { mishap: 'crash', when: 'before' },
  { mishap: 'crash', when: 'after' },
  { mishap: 'error', when: 'before' },
  { mishap: 'error', when: 'after' },
  { mishap: 'repetition', when: 'after' },
] as const satisfies readonly Omit<Fault, 'at'>[];

/** The faults of each of these calls; of one that only reads, an error before it is the same as one after it, and a repetition is nothing. */
export function everyFault(calls: readonly string[]): Fault[] {
  return calls.flatMap((name, index) => {
    const reads = /^(Get|BatchGet|Query)/.test(name);
    return everyMishap.slice(0, reads ? 3 : undefined).map((mishap) => ({ at: index + 1, ...mishap }));
  });
}

/** What no code catches as its own. */
export class InjectedError extends Error {
  override readonly name = 'InjectedError';
}

/** Something whose calls are counted, over all invocations that are about it; at some of them something goes wrong. */
export class Trial {
  /** The names of the calls so far. */
  readonly calls: string[] = [];
  /** The calls at which something went wrong, by name. */
  readonly struck: string[] = [];
  readonly faults: readonly Fault[];

  constructor(...faults: readonly Fault[]) {
    this.faults = faults;
  }

  /** What goes wrong with the call that is made now. */
  next(name: string): Fault | undefined {
    this.calls.push(name);
    const fault = this.faults.find(({ at }) => at === this.calls.length);
    if (fault) this.struck.push(`${fault.mishap} ${fault.when} call ${fault.at}, ${name}`);
    return fault;
  }
}

const never = new Promise<never>(() => undefined);

/** One invocation of a function in a process of its own. */
export class Invocation {
  /** Rejects when the process ends before its work does. */
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

  /** Whether the process has ended: nothing that it began goes on. */
  get over(): boolean {
    return this.#over;
  }

  /** Makes a call to something outside of the process. `once` for what no SDK repeats. */
  async call<T>(name: string, effect: () => Promise<T>, once = false): Promise<T> {
    if (this.#over) return never;
    const fault = this.trial?.next(name);
    const goesWrong = fault && !(once && fault.mishap === 'repetition') ? fault : undefined;
    if (goesWrong?.when === 'before') return this.#fail(goesWrong.mishap);
    const outcome = await settled(effect());
    if (this.#over) return never;
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

/** What came of some work, to be had later. */
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

/** An error as the SDK throws it when it had made the call before. */
function asRepetition(error: { $metadata?: { attempts?: number } }): never {
  if (error.$metadata) error.$metadata.attempts = 2;
  throw error;
}
