/** The style sheet has `--line-0` to `--line-9`. */
const LINES = 10;

const fixedColours: Readonly<Record<string, string>> = {
  '4xx': '--warning',
  '5xx': '--bad',
  failed: '--bad',
  overdue: '--bad',
};

/** Lines with the same label have the same colour in all graphs of a row. */
export class Colours {
  readonly #taken = new Map<string, string>();

  /** Returns the name of a CSS variable. */
  of(label: string): string {
    const colour = fixedColours[label] ?? this.#taken.get(label);
    if (colour !== undefined) return colour;
    const next = `--line-${this.#taken.size % LINES}`;
    this.#taken.set(label, next);
    return next;
  }
}

/** Drawing on a canvas needs the value of a CSS variable. */
export function valueOf(variable: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}
