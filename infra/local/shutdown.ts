type Step = () => void | Promise<void>;

/** What has to be undone at the end, in the reverse order of how it was done. */
export class Shutdown {
  readonly #steps: Step[] = [];
  #running: Promise<void> | undefined;

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Undoes everything; asked again meanwhile, it is still the same one. */
  run(): Promise<void> {
    return (this.#running ??= this.#undo());
  }

  get started(): boolean {
    return this.#running !== undefined;
  }

  async #undo(): Promise<void> {
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) await step();
  }
}
