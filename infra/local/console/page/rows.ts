import type { DashboardSnapshot } from '../../metrics/dashboardSnapshot.ts';
import { Colours } from './colours.ts';
import { byId, element, setText } from './dom.ts';
import { heading } from './format.ts';
import { Graph } from './graph.ts';

interface Row {
  readonly section: HTMLElement;
  readonly title: string;
  /** Rows of API families without calls are hidden. */
  readonly isFamily: boolean;
  readonly graphs: readonly Graph[];
}

let rows: readonly Row[] = [];
let shownLayout = '';
const quiet = element('p', { class: 'note' });

/** Shows the rows of graphs. Lists the families without calls in one line after the other families. */
export function showRows(picture: DashboardSnapshot, span: string): void {
  const layout = JSON.stringify(
    picture.rows.map(({ title, graphs }) => [title, graphs.map((graph) => [graph.title, graph.width])]),
  );
  if (layout !== shownLayout) renew(picture);
  shownLayout = layout;
  rows.forEach(({ section, isFamily, graphs }, index) => {
    const pictures = picture.rows[index]?.graphs ?? [];
    section.hidden = isFamily && pictures.every(({ series }) => series.length === 0);
    if (section.hidden) return;
    graphs.forEach((graph, position) => {
      const snapshot = pictures[position];
      if (snapshot) graph.show(snapshot, picture.times, span);
    });
  });
  const hidden = rows.filter(({ section }) => section.hidden).map(({ title }) => title);
  quiet.hidden = hidden.length === 0;
  setText(quiet, `No calls in the last ${span}: ${hidden.join(', ')}`);
}

/** The system was restarted with other graphs. */
function renew(picture: DashboardSnapshot): void {
  for (const { graphs } of rows) graphs.forEach((graph) => graph.remove());
  rows = picture.rows.map(({ title: markdown, graphs }) => {
    const { title, note } = heading(markdown);
    const colours = new Colours();
    const made = graphs.map((graph) => new Graph(graph, colours));
    const section = element(
      'section',
      { 'aria-label': title },
      element('h2', {}, title),
      element('p', { class: 'note' }, note),
      element('div', { class: 'graphs' }, ...made.map((graph) => graph.element)),
    );
    return { section, title, isFamily: title.startsWith('/'), graphs: made };
  });
  byId('rows').replaceChildren(...rows.map(({ section }) => section));
  rows.findLast(({ isFamily }) => isFamily)?.section.after(quiet);
}
