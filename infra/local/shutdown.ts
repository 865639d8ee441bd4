type Step = () => void | Promise<void>;

/** The steps that end a run. The step that was added last runs first. */
export class Shutdown {
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Runs all steps. Later calls run nothing and return the promise of the first call. */
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
