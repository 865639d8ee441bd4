import type { Picture } from '../metrics/picture.ts';

/** A part of the local run that can be stopped to practise an outage. */
export interface ConsolePart {
  readonly name: string;
  readonly running: boolean;
  /** What it is, for people. */
  readonly meaning: string;
}

/** What the dashboard shows: the answer of `/_local/dashboard.json`. */
export interface ConsoleState extends Picture {
  readonly title: string;
  readonly parts: readonly ConsolePart[];
}

/** The answer to a part that was stopped or started. */
export interface PartsAnswer {
  readonly parts: readonly ConsolePart[];
}

/** How many minutes the dashboard can show. */
export const ranges: readonly number[] = [15, 60];
