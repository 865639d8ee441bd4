/**
 * Counts values, rounded to three digits: at most 900 differ per power of ten. Reading `lists` replaces the map by
 * sorted arrays, which need less memory.
 */
export class Distribution {
  #table: Map<number, number> | undefined;
  #values: readonly number[] = [];
  #counts: readonly number[] = [];
  #size = 0;

  add(value: number, times = 1): void {
    this.#table ??= new Map(this.#values.map((each, index) => [each, this.#counts[index] ?? 0]));
    const rounded = roundedOf(value);
    this.#table.set(rounded, (this.#table.get(rounded) ?? 0) + times);
    this.#size += times;
  }

  get size(): number {
    return this.#size;
  }

  /** Ascending values and their counts, by the same index. */
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

/** Searches from the highest value, because most percentiles are high. */
export function percentileOf(percentile: number, distributions: readonly Distribution[]): number | undefined {
  const total = distributions.reduce((sum, { size }) => sum + size, 0);
  let above = total - Math.max(1, Math.ceil((percentile / 100) * total));
  const cursors = distributions.map(({ lists }) => ({ ...lists, index: lists.values.length - 1 }));
  for (;;) {
    let highest: (typeof cursors)[number] | undefined;
    let highestValue = -Infinity;
    for (const cursor of cursors) {
      const value = cursor.index < 0 ? undefined : cursor.values[cursor.index];
      if (value === undefined || (highest && value <= highestValue)) continue;
      highest = cursor;
      highestValue = value;
    }
    if (!highest) return undefined;
    above -= highest.counts[highest.index] ?? 0;
    if (above < 0) return highestValue;
    highest.index--;
  }
}

function roundedOf(value: number): number {
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? value : Number(value.toPrecision(3));
}
