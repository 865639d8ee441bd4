import type { DashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import type { Part } from '../parts.ts';

/** The data that the dashboard shows: the response of `/_local/dashboard.json`. */
export interface ConsoleState extends DashboardSnapshot {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** The response to a request that stops or starts a part. */
export interface PartsAnswer {
  readonly parts: readonly Part[];
}

/** The time ranges of the dashboard in minutes. The user chooses one of them. */
export const ranges: readonly [number, ...number[]] = [15, 60];
