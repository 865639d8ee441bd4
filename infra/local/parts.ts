/** A part of the system that can be stopped while the rest runs, to see and to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail';

export interface Part {
  readonly name: PartName;
  readonly running: boolean;
  /** What it is, and what is without it. */
  readonly meaning: string;
}

/** How one is stopped and started. */
export interface PartSwitch {
  readonly meaning: string;
  stop(): void | Promise<void>;
  start(): void | Promise<void>;
}

interface State {
  running: boolean;
  /** The last change, which the next one waits for. */
  changed: Promise<void>;
}

/** The parts that can be stopped, and which of them run. */
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

  /** Takes a part away until it is started; nothing when it is away. Resolves when it is. */
  stop(name: PartName): Promise<void> {
    return this.#change(name, false);
  }

  /** Brings a part back; nothing when it runs. Resolves when it does. */
  start(name: PartName): Promise<void> {
    return this.#change(name, true);
  }

  #change(name: PartName, running: boolean): Promise<void> {
    const state = this.#states.get(name)!;
    // One after the other, so that whoever comes last decides.
    const change = async () => {
      if (state.running === running) return;
      // While it is being stopped nobody can count on it any more.
      state.running = false;
      await (running ? this.#switches[name].start() : this.#switches[name].stop());
      state.running = running;
    };
    return (state.changed = state.changed.then(change, change));
  }
}
