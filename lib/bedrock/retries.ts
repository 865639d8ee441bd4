/** How often and how long a model is asked the same. */
export interface Tries {
  readonly most: number;
  /** How long an answer may take, milliseconds. */
  readonly patience: number;
  /** The longest first pause, milliseconds; each further one is twice as long at most. */
  readonly pause: number;
}

export const usual: Tries = { most: 5, patience: 5_000, pause: 300 };

const LONGEST_PAUSE_AFTER = 4;

/** The pause after a try that failed, milliseconds, of random length so that those who were turned away together do not come back together; undefined when there is no time or no try left. */
export function pauseBefore(attempt: number, deadline: number, { most, pause }: Tries): number | undefined {
  if (attempt >= most) return undefined;
  const longest = pause * 2 ** Math.min(attempt - 1, LONGEST_PAUSE_AFTER);
  const chosen = longest * (0.5 + Math.random() / 2);
  return Date.now() + chosen < deadline ? chosen : undefined;
}
