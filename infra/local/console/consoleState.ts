import type { Picture } from '../metrics/picture.ts';
import type { Part } from '../parts.ts';

/** What the dashboard shows: the answer of `/_local/dashboard.json`. */
export interface ConsoleState extends Picture {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** The answer to a part that was stopped or started. */
export interface PartsAnswer {
  readonly parts: readonly Part[];
}

/** How many minutes the dashboard can show. */
export const ranges: readonly number[] = [15, 60];
