import type { AlarmSnapshot } from '../../metrics/dashboardSnapshot.ts';
import { byId, element, setChildren, setText } from './dom.ts';
import { number } from './format.ts';
import { RUNBOOK_SECTION, withLinks } from './links.ts';

/** The effects on customers that a card shows. The user can unfold the others. */
const IMPACTS = 3;

interface Card {
  readonly card: HTMLElement;
  readonly value: HTMLElement;
  readonly impacts: HTMLElement;
  readonly contributors: HTMLElement;
}

const cards = new Map<string, Card>();

export function showAlarms(alarms: readonly AlarmSnapshot[]): void {
  const active = alarms.filter((alarm) => alarm.active);
  const sent = active.filter(({ notifies, suppressedBy }) => notifies && suppressedBy === null);
  byId('health').dataset['active'] = String(active.length > 0);
  setText(
    byId('health'),
    active.length === 0
      ? `All ${alarms.length} alarms are OK`
      : `${active.length} of ${alarms.length} alarms active, notices of ${sent.length}`,
  );
  setText(byId('alarms-summary'), `All ${alarms.length} alarms`);
  setChildren(byId('active-alarms'), active.filter(({ notifies }) => notifies).map(cardOf));
  showAll(alarms);
}

function cardOf(alarm: AlarmSnapshot): HTMLElement {
  const { name, contributors } = alarm;
  const card = cards.get(name) ?? newCard(alarm);
  setText(card.value, levelOf(alarm));
  card.card.classList.toggle('suppressed', alarm.suppressedBy !== null);
  card.card.classList.toggle('known', alarm.impacts.length > 0);
  setText(card.impacts, alarm.impacts.join('\n'));
  setText(card.contributors, contributors.length > 0 ? `For ${contributors.join(', ')}` : '');
  return card.card;
}

function levelOf({ value, threshold, suppressedBy }: AlarmSnapshot): string {
  if (suppressedBy !== null) return `no notice: ${suppressedBy}`;
  return threshold === null ? '' : `${number(value)}, threshold ${number(threshold)}`;
}

function stateOf({ active, notifies, suppressedBy }: AlarmSnapshot): string {
  if (!active) return 'OK';
  if (suppressedBy !== null) return 'active, no notice';
  return notifies ? 'active, notice' : 'active';
}

function newCard({ name, description }: AlarmSnapshot): Card {
  const [value, impacts] = [element('span'), element('p', { class: 'impacts' })];
  const contributors = element('p', { class: 'contributors' });
  const card = {
    card: element(
      'article',
      { class: 'alarm', 'aria-label': `${name} is active` },
      element('h3', {}, name, value),
      impacts,
      contributors,
      ...descriptionElements(description),
    ),
    value,
    impacts,
    contributors,
  };
  cards.set(name, card);
  return card;
}

/**
 * A description begins with a sentence. Each other line has a label, such as `Runbook: …`, or is an item that belongs
 * to the last line with a label.
 */
function descriptionElements(description: string): HTMLElement[] {
  const [broken = '', ...lines] = description.split('\n');
  const terms: HTMLElement[] = [];
  let items: string[] = [];
  const endList = () => {
    terms.at(-1)?.append(...impactElements(items));
    items = [];
  };
  for (const line of lines) {
    if (line.startsWith('- ')) {
      items.push(line.slice(2));
      continue;
    }
    endList();
    const [, term = '', text = line] = /^([A-Z][a-z ,]*):\s*(.*)$/.exec(line) ?? [];
    // The style sheet hides these lines while the card shows the impacts of the functions that fail.
    const attributes = term.startsWith('Impact,') ? { class: 'possible' } : {};
    terms.push(element('dt', attributes, term), element('dd', attributes, ...withLinks(text)));
  }
  endList();
  return [element('p', {}, broken), element('dl', {}, ...terms)];
}

function impactElements(impacts: readonly string[]): HTMLElement[] {
  const elements: HTMLElement[] = impacts.map((impact) => element('div', {}, impact));
  const hidden = elements.splice(IMPACTS);
  if (hidden.length > 0)
    elements.push(element('details', {}, element('summary', {}, `${hidden.length} more`), ...hidden));
  return elements;
}

interface Line {
  readonly row: HTMLTableRowElement;
  readonly cells: readonly HTMLElement[];
}

const lines = new Map<string, Line>();

function showAll(alarms: readonly AlarmSnapshot[]): void {
  const sorted = alarms.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  for (const alarm of sorted) {
    const { name, active, value, threshold, impacts, description } = alarm;
    const { row, cells } = lines.get(name) ?? newLine(alarm);
    const level = threshold === null ? '' : number(threshold);
    const meaning = [...impacts, description.split('\n', 1)[0] ?? ''].join('\n');
    const texts = [stateOf(alarm), number(value), level, meaning];
    row.classList.toggle('active', active);
    cells.forEach((cell, index) => setText(cell, texts[index] ?? ''));
  }
  setChildren(
    byId('alarms'),
    sorted.flatMap(({ name }) => lines.get(name)?.row ?? []),
  );
}

function newLine({ name, description }: AlarmSnapshot): Line {
  const cells = [element('td'), element('td', { class: 'number' }), element('td', { class: 'number' }), element('td')];
  const runbook = RUNBOOK_SECTION.exec(description)?.[1];
  const label = runbook === undefined ? name : element('a', { href: `runbook#${runbook}` }, name);
  const line = { row: element('tr', {}, element('th', { scope: 'row' }, label), ...cells), cells };
  lines.set(name, line);
  return line;
}
