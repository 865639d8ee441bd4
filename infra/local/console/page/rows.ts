import type { DashboardSnapshot } from '../../metrics/dashboardSnapshot.ts';
import { Colours } from './colours.ts';
import { byId, element, setText } from './dom.ts';
import { heading } from './format.ts';
import { Graph } from './graph.ts';
import { withLinks } from './links.ts';

interface Row {
  readonly section: HTMLElement;
  readonly title: string;
  /** A family without calls in the time range is hidden. */
  readonly isFamily: boolean;
  readonly graphs: readonly Graph[];
}

let rows: readonly Row[] = [];
let currentLayout = '';
const familiesWithoutCalls = element('p', { class: 'note' });

/** Lists API families that had no calls in one line instead of their rows. */
export function showRows(snapshot: DashboardSnapshot, span: string): void {
  const layout = JSON.stringify(
    snapshot.rows.map(({ title, graphs }) => [title, graphs.map((graph) => [graph.title, graph.width])]),
  );
  if (layout !== currentLayout) createRows(snapshot);
  currentLayout = layout;
  rows.forEach(({ section, isFamily, graphs }, index) => {
    const graphSnapshots = snapshot.rows[index]?.graphs ?? [];
    section.hidden = isFamily && graphSnapshots.every(({ series }) => series.length === 0);
    if (section.hidden) return;
    graphs.forEach((graph, position) => {
      const graphSnapshot = graphSnapshots[position];
      if (graphSnapshot) graph.show(graphSnapshot, snapshot.times, span);
    });
  });
  const hidden = rows.filter(({ section }) => section.hidden).map(({ title }) => title);
  familiesWithoutCalls.hidden = hidden.length === 0;
  setText(familiesWithoutCalls, `No calls in the last ${span}: ${hidden.join(', ')}`);
}

/** Runs for the first response, and if a restarted system has other graphs. */
function createRows(snapshot: DashboardSnapshot): void {
  for (const { graphs } of rows) graphs.forEach((graph) => graph.remove());
  rows = snapshot.rows.map(({ title: markdown, graphs }) => {
    const { title, note } = heading(markdown);
    const colours = new Colours();
    const newGraphs = graphs.map((graph) => new Graph(graph, colours));
    const section = element(
      'section',
      { 'aria-label': title },
      element('h2', {}, title),
      element('p', { class: 'note' }, ...withLinks(note)),
      element('div', { class: 'graphs' }, ...newGraphs.map((graph) => graph.element)),
    );
    return { section, title, isFamily: title.startsWith('/'), graphs: newGraphs };
  });
  byId('rows').replaceChildren(...rows.map(({ section }) => section));
  rows.findLast(({ isFamily }) => isFamily)?.section.after(familiesWithoutCalls);
}
