type Step = () => void | Promise<void>;

/** The steps that end a run, last added first. */
export class Shutdown {
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Later calls return the promise of the first one. */
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
