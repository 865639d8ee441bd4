/** A part of the system that can be stopped while the rest runs, to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail';

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
  readonly #switches: Readonly<Record<PartName, PartSwitch>>;
  readonly #states = new Map<PartName, State>();

  constructor(switches: Readonly<Record<PartName, PartSwitch>>) {
    this.#switches = switches;
    for (const name of Object.keys(switches) as PartName[])
      this.#states.set(name, { isRunning: true, lastChange: Promise.resolve() });
  }

  list(): Part[] {
    return [...this.#states].map(([name, { isRunning: running }]) => ({
      name,
      running,
      meaning: this.#switches[name].meaning,
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
    const state = this.#states.get(name);
    if (!state) throw new Error(`There is no part ${name}`);
    // Changes of a part run one after the other, so the last call decides its state.
    const change = async () => {
      if (state.isRunning === running) return;
      // A part that is stopping no longer counts as running.
      state.isRunning = false;
      await (running ? this.#switches[name].start() : this.#switches[name].stop());
      state.isRunning = running;
    };
    return (state.lastChange = state.lastChange.then(change, change));
  }
}
