/** CloudWatch refuses a longer description. */
const LIMIT = 1024;

/** Where the README tells what to do; a test asserts that the headings exist. */
export const runbooks = {
  faults: 'README.md#runbook-faults',
  apiFaults: 'README.md#runbook-api-faults',
  throttledTable: 'README.md#runbook-throttled-table',
  deadLetters: 'README.md#runbook-dead-letters',
  streamDeadLetters: 'README.md#runbook-stream-dead-letters',
  lateMessages: 'README.md#runbook-late-messages',
  overdueDeliveries: 'README.md#runbook-overdue-deliveries',
  lateFanOut: 'README.md#runbook-late-fan-out',
  lateFirstAttempts: 'README.md#runbook-late-first-attempts',
  failingMail: 'README.md#runbook-failing-mail',
  failingWorkers: 'README.md#runbook-failing-workers',
  crashingWorkers: 'README.md#runbook-crashing-workers',
  workersBehind: 'README.md#runbook-workers-behind-the-stream',
  stoppedWorkers: 'README.md#runbook-stopped-workers',
} as const;

/** `high`: customers notice it now. `low`: nothing is lost, and it gets no worse until the morning. */
export type Severity = 'high' | 'low';

const urgency: Readonly<Record<Severity, string>> = { high: 'high: look now', low: 'low: look on the next working day' };

export interface AlarmText {
  readonly happens: string;
  readonly severity: Severity;
  readonly runbook: string;
  /** The name of the saved query to begin with. */
  readonly query?: string | undefined;
  readonly impacts: readonly string[];
}

/**
 * An alarm's description: what happens, how urgent it is, what to do, how to find out more, and then the impact; of several, one for each
 * endpoint or worker, as many as there is room for.
 */
export function alarmText({ happens, severity, runbook, query, impacts }: AlarmText): string {
  const head = [happens, `Severity: ${urgency[severity]}`, `Runbook: ${runbook}`, ...(query === undefined ? [] : [`Saved query: ${query}`])].join('\n');
  const distinct = [...new Set(impacts)];
  if (distinct.length === 1) return `${head}\nImpact: ${distinct[0]}`;
  const lines = distinct.map((impact) => `- ${impact}`);
  const text = (shown: number) => {
    const left = lines.length - shown;
    return [head, 'Impact, depending on which:', ...lines.slice(0, shown), ...(left > 0 ? [`- and ${left} more, in the declarations`] : [])].join('\n');
  };
  let shown = lines.length;
  while (shown > 0 && text(shown).length > LIMIT) shown--;
  return text(shown);
}
