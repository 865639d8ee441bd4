/** CloudWatch refuses a longer description. */
const LIMIT = 1024;

/** The section of the runbook for each alarm, as a path within the repository. A test asserts that the headings exist. */
export const runbooks = {
  faults: 'infra/RUNBOOK.md#faults',
  apiFaults: 'infra/RUNBOOK.md#api-faults',
  throttledTable: 'infra/RUNBOOK.md#throttled-table',
  deadLetters: 'infra/RUNBOOK.md#dead-letters',
  streamDeadLetters: 'infra/RUNBOOK.md#stream-dead-letters',
  lateMessages: 'infra/RUNBOOK.md#late-messages',
  overdueDeliveries: 'infra/RUNBOOK.md#overdue-deliveries',
  lateFanOut: 'infra/RUNBOOK.md#late-fan-out',
  lateFirstAttempts: 'infra/RUNBOOK.md#late-first-attempts',
  failingMail: 'infra/RUNBOOK.md#failing-mail',
  failingWorkers: 'infra/RUNBOOK.md#failing-workers',
  crashingWorkers: 'infra/RUNBOOK.md#crashing-workers',
  workersBehind: 'infra/RUNBOOK.md#workers-behind-the-stream',
  stoppedWorkers: 'infra/RUNBOOK.md#stopped-workers',
} as const;

/** `high`: customers notice it now. `low`: nothing is lost, and it gets no worse until the morning. */
export type Severity = 'high' | 'low';

const urgency: Readonly<Record<Severity, string>> = {
  high: 'high: look now',
  low: 'low: look on the next working day',
};

export interface AlarmText {
  readonly happens: string;
  readonly severity: Severity;
  readonly runbook: string;
  /** The name of the saved query to begin with. */
  readonly query?: string | undefined;
  readonly impacts: readonly string[];
}

/** Returns the address of a section of the runbook: absolute below `runbookBaseUrl`, else its path within the repository. */
export function runbookLink(runbook: string, runbookBaseUrl: string | undefined): string {
  return runbookBaseUrl === undefined ? runbook : `${runbookBaseUrl.replace(/\/$/, '')}/${runbook}`;
}

/**
 * Returns an alarm's description: what is broken, the severity, the runbook section, the saved query, and the impact. With several impacts, as many
 * as CloudWatch's limit allows.
 */
export function alarmText(
  { happens, severity, runbook, query, impacts }: AlarmText,
  runbookBaseUrl: string | undefined,
): string {
  const head = [
    happens,
    `Severity: ${urgency[severity]}`,
    `Runbook: ${runbookLink(runbook, runbookBaseUrl)}`,
    ...(query === undefined ? [] : [`Saved query: ${query}`]),
  ].join('\n');
  const distinct = [...new Set(impacts)];
  if (distinct.length === 1) return `${head}\nImpact: ${distinct[0]}`;
  const lines = distinct.map((impact) => `- ${impact}`);
  const text = (shown: number) => {
    const left = lines.length - shown;
    return [
      head,
      'Impact, depending on which:',
      ...lines.slice(0, shown),
      ...(left > 0 ? [`- and ${left} more, in the declarations`] : []),
    ].join('\n');
  };
  let shown = lines.length;
  while (shown > 0 && text(shown).length > LIMIT) shown--;
  return text(shown);
}
