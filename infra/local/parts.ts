/** A part of the system that can be stopped while the rest runs, to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail' | 'live';

export interface Part {
  readonly name: PartName;
  readonly running: boolean;
  /** A sentence that names the part and the effect of stopping it. */
  readonly meaning: string;
}

/** Functions that stop and start a part. */
export interface PartSwitch {
  readonly meaning: string;
  stop(): void | Promise<void>;
  start(): void | Promise<void>;
}

interface State {
  isRunning: boolean;
  /** Resolves when the last change is done. The next change waits for this promise. */
  lastChange: Promise<void>;
}

/** The parts that can be stopped, and their states. */
export class Parts {
  readonly #switches: ReadonlyMap<PartName, PartSwitch>;
  readonly #states = new Map<PartName, State>();

  /** The part `live` is missing if the system has no push service. */
  constructor(switches: Readonly<Partial<Record<PartName, PartSwitch>>>) {
    this.#switches = new Map(Object.entries(switches) as [PartName, PartSwitch][]);
    for (const name of this.#switches.keys())
      this.#states.set(name, { isRunning: true, lastChange: Promise.resolve() });
  }

  list(): Part[] {
    return [...this.#states].map(([name, { isRunning: running }]) => ({
      name,
      running,
      meaning: this.#switches.get(name)?.meaning ?? '',
    }));
  }

  /** Stops a part. Does nothing if it is stopped. Resolves when the part has stopped. */
  stop(name: PartName): Promise<void> {
    return this.#change(name, false);
  }

  /** Starts a part. Does nothing if it runs. Resolves when the part is ready. */
  start(name: PartName): Promise<void> {
    return this.#change(name, true);
  }

  #change(name: PartName, running: boolean): Promise<void> {
    const [state, part] = [this.#states.get(name), this.#switches.get(name)];
    if (!state || !part) throw new Error(`There is no part ${name}`);
    // Changes of a part run one after the other, so the last call decides its state.
    const change = async () => {
      if (state.isRunning === running) return;
      // A part that is stopping no longer counts as running.
      state.isRunning = false;
      await (running ? part.start() : part.stop());
      state.isRunning = running;
    };
    return (state.lastChange = state.lastChange.then(change, change));
  }
}
