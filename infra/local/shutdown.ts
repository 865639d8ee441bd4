type Step = () => void | Promise<void>;

/** Steps that end a run, in the reverse order of their registration. */
export class Shutdown {
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Runs all steps once. Later calls return the same promise. */
  run(): Promise<void> {
    return (this.#running ??= this.#runSteps());
  }

  get started(): boolean {
    return this.#running !== undefined;
  }

  async #runSteps(): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) await step();
  }
}
