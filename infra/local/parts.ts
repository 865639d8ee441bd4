/** A part of the system that can be stopped while the rest runs, to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail';

export interface Part {
  readonly name: PartName;
  readonly running: boolean;
  /** The description of the part, and the effect of stopping it. */
  readonly meaning: string;
}

/** How to stop and start a part. */
export interface PartSwitch {
  readonly meaning: string;
  stop(): void | Promise<void>;
  start(): void | Promise<void>;
}

interface State {
  running: boolean;
  /** The last change. The next change waits for it. */
  changed: Promise<void>;
}

/** The parts that can be stopped, and their states. */
export class Parts {
  readonly #switches: Readonly<Record<PartName, PartSwitch>>;
  readonly #states = new Map<PartName, State>();

  constructor(switches: Readonly<Record<PartName, PartSwitch>>) {
    this.#switches = switches;
    for (const name of Object.keys(switches) as PartName[])
      this.#states.set(name, { running: true, changed: Promise.resolve() });
  }

  list(): Part[] {
    return [...this.#states].map(([name, { running }]) => ({ name, running, meaning: this.#switches[name].meaning }));
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
    // Changes run one after the other, so the last call decides.
    const change = async () => {
      if (state.running === running) return;
      // A part that is stopping no longer counts as running.
      state.running = false;
      await (running ? this.#switches[name].start() : this.#switches[name].stop());
      state.running = running;
    };
    return (state.changed = state.changed.then(change, change));
  }
}
