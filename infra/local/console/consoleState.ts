import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Part } from '../parts.ts';

/** The data of the dashboard: the response of `/_local/dashboard.json`. */
export interface ConsoleState extends DashboardSnapshot {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** The response after a part was stopped or started. */
export interface PartsAnswer {
  readonly parts: readonly Part[];
}

/** The selectable time ranges of the dashboard in minutes. */
export const ranges: readonly [number, ...number[]] = [15, 60];
