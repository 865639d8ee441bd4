/** A part of the system that can be stopped while the others run, to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail' | 'live';

export interface Part {
  readonly name: PartName;
  readonly running: boolean;
  /** A text that names the part and says what happens while it is stopped. */
  readonly meaning: string;
}

/** The functions that stop and start a part. */
export interface PartSwitch {
  readonly meaning: string;
  stop(): void | Promise<void>;
  start(): void | Promise<void>;
}

interface State {
  isRunning: boolean;
  /** Resolves when the last requested change is done. The next change waits for it. */
  lastChange: Promise<void>;
}

/** The parts of the system that can be stopped. `list` returns which of them run. */
export class Parts {
  readonly #switches: ReadonlyMap<PartName, PartSwitch>;
  readonly #states = new Map<PartName, State>();

  /** `switches` has no part `live` if the system has no push service. */
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

  /** Stops a part. Does nothing if it is already stopped. Resolves when the part has stopped. */
  stop(name: PartName): Promise<void> {
    return this.#change(name, false);
  }

  /** Starts a part. Does nothing if it already runs. Resolves when the part is ready. */
  start(name: PartName): Promise<void> {
    return this.#change(name, true);
  }

  #change(name: PartName, running: boolean): Promise<void> {
    const [state, part] = [this.#states.get(name), this.#switches.get(name)];
    if (!state || !part) throw new Error(`There is no part ${name}`);
    // Changes of the same part run one after the other. So its state is the one that the last call requests.
    const change = async () => {
      if (state.isRunning === running) return;
      // While a part stops or starts, it does not count as running.
      state.isRunning = false;
      await (running ? part.start() : part.stop());
      state.isRunning = running;
    };
    return (state.lastChange = state.lastChange.then(change, change));
  }
}
