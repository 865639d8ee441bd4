/** CloudWatch refuses a longer description. */
const LIMIT = 1024;

/** Where the README tells what to do; a test asserts that the headings exist. */
export const runbooks = {
  faults: 'README.md#runbook-faults',
  workers: 'README.md#runbook-workers',
  deadLetters: 'README.md#runbook-dead-letters',
  lateDeliveries: 'README.md#runbook-late-deliveries',
} as const;

/** The Logs Insights query, saved for each family's log group, that shows which endpoint fails, how, and for which API keys. */
export const FAULTS_QUERY = 'filter message = "request" and status >= 500 | stats count(*) as faults by endpoint, errorStatus, tenant | sort faults desc';

/** The same for the workers: which of them fails, and of what. */
export const WORKER_FAULTS_QUERY = 'filter message = "failure" | stats count(*) as faults by worker, error.name, error.message | sort faults desc';

/**
 * An alarm's description: what happens, what to do, how to find out more, and then the impact; of several, one for each endpoint,
 * as many as there is room for.
 */
export function alarmText({ happens, runbook, query, impacts }: { happens: string; runbook: string; query?: string; impacts: readonly string[] }): string {
  const head = [happens, `Runbook: ${runbook}`, ...(query === undefined ? [] : [`Logs Insights: ${query}`])].join('\n');
  const distinct = [...new Set(impacts)];
  if (distinct.length === 1) return `${head}\nImpact: ${distinct[0]}`;
  const lines = distinct.map((impact) => `- ${impact}`);
  const text = (shown: number) => {
    const left = lines.length - shown;
    return [head, 'Impact, depending on the endpoint:', ...lines.slice(0, shown), ...(left > 0 ? [`- and ${left} more, in the declarations of the endpoints`] : [])].join('\n');
  };
  let shown = lines.length;
  while (shown > 0 && text(shown).length > LIMIT) shown--;
  return text(shown);
}
