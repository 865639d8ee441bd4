/** The parts that can be stopped while the others run, to practise an outage. */
export type PartName = 'table' | 'queues' | 'mail' | 'live';

export interface Part {
  readonly name: PartName;
  readonly running: boolean;
  /** Names the part and says what happens while it is stopped. */
  readonly meaning: string;
}

export interface PartSwitch {
  readonly meaning: string;
  stop(): void | Promise<void>;
  start(): void | Promise<void>;
}

interface State {
  isRunning: boolean;
  lastChange: Promise<void>;
}

export class Parts {
  readonly #switches: ReadonlyMap<PartName, PartSwitch>;
  readonly #states = new Map<PartName, State>();

  /** Without `live` if the system has no push service. */
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

  stop(name: PartName): Promise<void> {
    return this.#change(name, false);
  }

  start(name: PartName): Promise<void> {
    return this.#change(name, true);
  }

  #change(name: PartName, running: boolean): Promise<void> {
    const [state, part] = [this.#states.get(name), this.#switches.get(name)];
    if (!state || !part) throw new Error(`There is no part ${name}`);
    // Changes of a part run one after the other, so the last call decides its state.
    const change = async () => {
      if (state.isRunning === running) return;
      state.isRunning = false;
      await (running ? part.start() : part.stop());
      state.isRunning = running;
    };
    return (state.lastChange = state.lastChange.then(change, change));
  }
}
