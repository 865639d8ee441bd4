/** At a thousand calls per second, a few faults are normal. */
export const MIN_FAULT_SHARE = 0.01;
const WINDOW_MILLISECONDS = 5 * 60 * 1000;

interface Counts {
  readonly calls: number;
  readonly faults: number;
}

const none: Counts = { calls: 0, faults: 0 };

/**
 * Counts calls and faults of one instance. Each instance decides whether its faults are frequent, so that calls without
 * faults write no metric.
 */
export class FaultShare {
  #window = 0;
  #before = none;
  #current = none;

  /** Returns whether at least 1 % of the calls in this and the previous window were faults. `now` is epoch ms. */
  add(now: number, { calls, faults }: Counts): boolean {
    const window = Math.floor(now / WINDOW_MILLISECONDS);
    if (window !== this.#window) {
      this.#before = window === this.#window + 1 ? this.#current : none;
      this.#current = none;
      this.#window = window;
    }
    this.#current = { calls: this.#current.calls + calls, faults: this.#current.faults + faults };
    const recent = {
      calls: this.#before.calls + this.#current.calls,
      faults: this.#before.faults + this.#current.faults,
    };
    return recent.faults > 0 && recent.faults >= MIN_FAULT_SHARE * recent.calls;
  }
}
