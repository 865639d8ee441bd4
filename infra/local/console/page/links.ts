import { element } from './dom.ts';

/** A link to a section of the runbook, as a path or as an address of another site. */
export const RUNBOOK_SECTION = /\S*infra\/RUNBOOK\.md#([\w-]+)/;
const LINKS = new RegExp(`(${RUNBOOK_SECTION.source}|saved query "[^"]+")`, 'g');

/** Returns a text with links to sections of the runbook and to saved queries. */
export function withLinks(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(LINKS)) {
    const [found, , section] = match;
    const [, name = ''] = /"(.+)"/.exec(found) ?? [];
    const href = section === undefined ? `queries?${new URLSearchParams({ name }).toString()}` : `runbook#${section}`;
    nodes.push(text.slice(end, match.index), element('a', { href }, found));
    end = match.index + found.length;
  }
  return [...nodes, text.slice(end)];
}
