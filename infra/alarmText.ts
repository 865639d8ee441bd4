/** CloudWatch refuses a longer description. */
const LIMIT = 1024;

/** Where the README tells what to do about faults; a test asserts that the heading exists. */
export const RUNBOOK = 'README.md#runbook-faults';

/** The Logs Insights query, saved for each family's log group, that shows which endpoint fails, how, and for which API keys. */
export const FAULTS_QUERY = 'filter message = "request" and status >= 500 | stats count(*) as faults by endpoint, errorStatus, tenant | sort faults desc';

/**
 * An alarm's description: what happens, what to do, how to find out more, and then the impact of each endpoint, as many
 * as there is room for.
 */
export function alarmText({ happens, query, impacts }: { happens: string; query?: string; impacts: readonly string[] }): string {
  const head = [happens, `Runbook: ${RUNBOOK}`, ...(query === undefined ? [] : [`Logs Insights: ${query}`])].join('\n');
  const lines = [...new Set(impacts)].map((impact) => `- ${impact}`);
  const text = (shown: number) => {
    const left = lines.length - shown;
    return [head, 'Impact, depending on the endpoint:', ...lines.slice(0, shown), ...(left > 0 ? [`- and ${left} more, in the declarations of the endpoints`] : [])].join('\n');
  };
  let shown = lines.length;
  while (shown > 0 && text(shown).length > LIMIT) shown--;
  return text(shown);
}
