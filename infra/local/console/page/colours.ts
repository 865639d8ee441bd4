/** The number of colours for lines in the style sheet: `--line-0` to `--line-9`. */
const LINES = 10;

/** Labels that mean problems always have these colours, as names of CSS variables. */
const fixedColours: Readonly<Record<string, string>> = {
  '4xx': '--warning',
  '5xx': '--bad',
  failed: '--bad',
  overdue: '--bad',
};

/**
 * Chooses the colours of lines in a row of graphs. Lines with the same label have the same colour in all graphs of the
 * row.
 */
export class Colours {
  readonly #taken = new Map<string, string>();

  /** Returns the colour of the line with this label, as the name of a CSS variable. */
  of(label: string): string {
    const colour = fixedColours[label] ?? this.#taken.get(label);
    if (colour !== undefined) return colour;
    const next = `--line-${this.#taken.size % LINES}`;
    this.#taken.set(label, next);
    return next;
  }
}

/** Returns the current value of a CSS variable. Drawing on a canvas needs the value. */
export function valueOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
