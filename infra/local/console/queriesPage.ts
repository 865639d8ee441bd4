import { type Html, html } from '../../../lib/shared/html.ts';
import type { SavedQuery } from '../assembly/queries/savedQueries.ts';
import type { Cell, Result } from '../queries/runQuery.ts';
import { QUERIES } from './pageFiles.ts';
import { textPage } from './textPage.ts';

export interface LocalQueries {
  readonly saved: readonly SavedQuery[];
  /** Runs a query over the lines since a time (epoch ms). `values` replace its placeholders. */
  readonly run: (query: SavedQuery, values: Readonly<Record<string, string>>, since: number) => Promise<Result>;
}

const MINUTE = 60_000;
const ranges = { 15: '15 minutes', 60: 'hour', 1440: 'day', 20160: '14 days' } as const;
const DEFAULT_MINUTES = '60';
/** Browsers take seconds to show more rows. */
const SHOWN_ROWS = 1_000;

export function queryPath(name: string): string {
  return `${QUERIES}?${new URLSearchParams({ name }).toString()}`;
}

/**
 * Runs the query that `name` in the query string names, if it has no placeholders or a value for one. Without `name`,
 * lists the queries. Returns undefined for an unknown query or time range.
 */
export async function queriesPage(
  { saved, run }: LocalQueries,
  parameters: URLSearchParams,
  now: number,
): Promise<string | undefined> {
  const list = listOf(saved);
  const name = parameters.get('name');
  if (name === null) return textPage('Saved queries', list);
  const query = saved.find((each) => each.name === name);
  const minutes = parameters.get('minutes') ?? DEFAULT_MINUTES;
  if (!query || !Object.hasOwn(ranges, minutes)) return undefined;
  const values = Object.fromEntries(
    query.placeholders.map((placeholder) => [placeholder, (parameters.get(placeholder) ?? '').trim()]),
  );
  const isReady = query.placeholders.length === 0 || Object.values(values).some((value) => value !== '');
  const result = isReady
    ? resultOf(await run(query, values, now - Number(minutes) * MINUTE))
    : html`<p role="status">Fill in what you look for, and run the query.</p>`;
  return textPage(name, html`${formOf(query, values, minutes)}${result}<h2>All saved queries</h2>${list}`);
}

function listOf(saved: readonly SavedQuery[]): Html {
  const items = saved.map(({ name }) => html`<li><a href="${queryPath(name)}">${name}</a></li>`);
  return html`<p class="note">The queries that a deployment saves in Logs Insights, here over <code>functions.log</code> and
<code>access.log</code> in the data directory of this run.</p>
<ul class="queries">${items}</ul>`;
}

function formOf(
  { name, text, placeholders }: SavedQuery,
  values: Readonly<Record<string, string>>,
  minutes: string,
): Html {
  const fields = placeholders.map(
    (placeholder) =>
      html`<label>${placeholder} <input name="${placeholder}" value="${values[placeholder] ?? ''}" autocomplete="off" size="36"></label> `,
  );
  const options = Object.entries(ranges).map(([value, label]) =>
    value === minutes
      ? html`<option value="${value}" selected>last ${label}</option>`
      : html`<option value="${value}">last ${label}</option>`,
  );
  return html`<pre tabindex="0"><code>${text.replaceAll(' | ', '\n| ')}</code></pre>
<form action="${QUERIES}" method="get">
<input type="hidden" name="name" value="${name}">
${fields}<label>Time <select name="minutes">${options}</select></label>
<button type="submit">Run</button>
</form>
`;
}

function resultOf({ columns, rows }: Result): Html {
  const shown = rows.slice(0, SHOWN_ROWS);
  const cut = rows.length > SHOWN_ROWS ? ` The first ${SHOWN_ROWS} are shown.` : '';
  return html`<p role="status">${rows.length === 1 ? '1 row' : `${rows.length} rows`}.${cut}</p>
<div class="result" tabindex="0" role="region" aria-label="Result">
<table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${shown.map((row) => html`<tr>${row.map(cellOf)}</tr>\n`)}</tbody>
</table>
</div>
`;
}

function cellOf(cell: Cell): Html {
  return html`<td>${cell ?? ''}</td>`;
}
