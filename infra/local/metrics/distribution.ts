/**
 * How often each value came, values rounded to three digits: a few hundred of them, however many measurements there are. It is a table while it
 * is added to, and lists in order when it is read, which take less room and need no sorting when it is read again.
 */
export class Distribution {
  #table: Map<number, number> | undefined;
  #values: readonly number[] = [];
  #counts: readonly number[] = [];
  #size = 0;

  add(value: number, times = 1): void {
    this.#table ??= new Map(this.#values.map((each, index) => [each, this.#counts[index]!]));
    const rounded = roundedOf(value);
    this.#table.set(rounded, (this.#table.get(rounded) ?? 0) + times);
    this.#size += times;
  }

  get size(): number {
    return this.#size;
  }

  /** Each value once, the lowest first, and how often it came. */
  get lists(): { readonly values: readonly number[]; readonly counts: readonly number[] } {
    if (this.#table) {
      const entries = [...this.#table].sort(([a], [b]) => a - b);
      this.#values = entries.map(([value]) => value);
      this.#counts = entries.map(([, count]) => count);
      this.#table = undefined;
    }
    return { values: this.#values, counts: this.#counts };
  }
}

/**
 * The value that so many in a hundred of all values do not exceed; undefined if there are none. It is sought from the highest value down, because
 * there the percentiles lie that anybody asks for.
 */
export function percentileOf(percentile: number, distributions: readonly Distribution[]): number | undefined {
  const total = distributions.reduce((sum, { size }) => sum + size, 0);
  let above = total - Math.max(1, Math.ceil((percentile / 100) * total));
  const lists = distributions.map((each) => each.lists);
  const places = lists.map(({ values }) => values.length - 1);
  while (true) {
    let highest = -1;
    for (let index = 0; index < lists.length; index++) {
      if (
        places[index]! >= 0 &&
        (highest < 0 || lists[index]!.values[places[index]!]! > lists[highest]!.values[places[highest]!]!)
      )
        highest = index;
    }
    if (highest < 0) return undefined;
    const { values, counts } = lists[highest]!;
    const place = places[highest]!--;
    above -= counts[place]!;
    if (above < 0) return values[place];
  }
}

function roundedOf(value: number): number {
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? value : Number(value.toPrecision(3));
}
