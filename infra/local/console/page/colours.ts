/** How many colours of lines the style sheet has: `--line-0` and so on. */
const LINES = 10;

/** What is bad wherever it is drawn looks like it. */
const meaningful: Readonly<Record<string, string>> = {
  '4xx': '--warning',
  '5xx': '--bad',
  failed: '--bad',
  overdue: '--bad',
};

/** The colours of one row of graphs: what has the same label has the same colour in all of them, and keeps it. */
export class Colours {
  readonly #taken = new Map<string, string>();

  /** The name of the variable in the style sheet. */
  of(label: string): string {
    const known = meaningful[label] ?? this.#taken.get(label);
    if (known !== undefined) return known;
    const next = `--line-${this.#taken.size % LINES}`;
    this.#taken.set(label, next);
    return next;
  }
}

/** What a variable of the style sheet is now, dark or light, for a canvas. */
export function valueOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
