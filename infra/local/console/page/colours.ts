/** The number of line colours in the style sheet, which are `--line-0` to `--line-9`. */
const LINES = 10;

/** The fixed colours of labels that mean problems. */
const fixedColours: Readonly<Record<string, string>> = {
  '4xx': '--warning',
  '5xx': '--bad',
  failed: '--bad',
  overdue: '--bad',
};

/** The colours of a row of graphs. A label has the same colour in all graphs of the row. */
export class Colours {
  readonly #taken = new Map<string, string>();

  /** Returns the name of the CSS variable with the colour of a label. */
  of(label: string): string {
    const colour = fixedColours[label] ?? this.#taken.get(label);
    if (colour !== undefined) return colour;
    const next = `--line-${this.#taken.size % LINES}`;
    this.#taken.set(label, next);
    return next;
  }
}

/** Returns the current value of a CSS variable, for a canvas. */
export function valueOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
