import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Part } from '../parts.ts';

/** The response of `/_local/dashboard.json`. */
export interface ConsoleState extends DashboardSnapshot {
  readonly title: string;
  readonly parts: readonly Part[];
}

export interface PartsAnswer {
  readonly parts: readonly Part[];
}

/** In minutes. The user chooses one of them. */
export const ranges: readonly [number, ...number[]] = [15, 60];
