import type { AlarmPicture } from '../../metrics/picture.ts';
import { byId, element, setChildren, setText } from './dom.ts';
import { number } from './format.ts';

/** So many impacts are told at once; the others are folded. */
const IMPACTS = 3;

interface Card {
  readonly card: HTMLElement;
  readonly value: HTMLElement;
  readonly contributors: HTMLElement;
}

/** By the alarm's name. */
const cards = new Map<string, Card>();

/** Shows the alarms: those that ring as cards, all of them in a table. */
export function showAlarms(alarms: readonly AlarmPicture[]): void {
  const ringing = alarms.filter((alarm) => alarm.ringing);
  const all = alarms.length === 1 ? '1 alarm' : `${alarms.length} alarms`;
  byId('health').dataset['ringing'] = String(ringing.length > 0);
  setText(
    byId('health'),
    ringing.length === 0
      ? `No alarm rings (${all})`
      : `${ringing.length} of ${all} ring${ringing.length === 1 ? 's' : ''}`,
  );
  setText(byId('alarms-summary'), `All ${all}`);
  setChildren(byId('ringing'), ringing.map(cardOf));
  showAll(alarms);
}

function cardOf(alarm: AlarmPicture): HTMLElement {
  const { name, value, threshold, contributors } = alarm;
  const card = cards.get(name) ?? newCard(alarm);
  setText(card.value, `${number(value)}, threshold ${number(threshold)}`);
  setText(card.contributors, contributors.length > 0 ? `For ${contributors.join(', ')}` : '');
  return card.card;
}

function newCard({ name, description }: AlarmPicture): Card {
  const [value, contributors] = [element('span'), element('p', { class: 'contributors' })];
  const card = {
    card: element(
      'article',
      { class: 'alarm', 'aria-label': `${name} rings` },
      element('h3', {}, name, value),
      contributors,
      ...described(description),
    ),
    value,
    contributors,
  };
  cards.set(name, card);
  return card;
}

/** An alarm's description: what happens, then lines of the form `Runbook: …`, the last of them with a list beneath it. */
function described(description: string): HTMLElement[] {
  const [happens = '', ...lines] = description.split('\n');
  const facts = lines
    .filter((line) => !line.startsWith('- '))
    .flatMap((line) => {
      const [, term = '', text = line] = /^([A-Z][a-z ,]*):\s*(.*)$/.exec(line) ?? [];
      return [element('dt', {}, term), element('dd', {}, text)];
    });
  facts.at(-1)?.append(...listed(lines.filter((line) => line.startsWith('- ')).map((line) => line.slice(2))));
  return [element('p', {}, happens), element('dl', {}, ...facts)];
}

function listed(impacts: readonly string[]): HTMLElement[] {
  const [first, others] = [impacts.slice(0, IMPACTS), impacts.slice(IMPACTS)].map((some) =>
    some.map((impact) => element('div', {}, impact)),
  );
  return [
    ...first!,
    ...(others!.length > 0
      ? [element('details', {}, element('summary', {}, `${others!.length} more`), ...others!)]
      : []),
  ];
}

interface Line {
  readonly row: HTMLTableRowElement;
  readonly cells: readonly HTMLElement[];
}

const lines = new Map<string, Line>();

function showAll(alarms: readonly AlarmPicture[]): void {
  const sorted = alarms.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
  for (const { name, ringing, value, threshold, description } of sorted) {
    const { row, cells } = lines.get(name) ?? newLine(name);
    const texts = [ringing ? 'rings' : 'quiet', number(value), number(threshold), description.split('\n', 1)[0] ?? ''];
    row.classList.toggle('rings', ringing);
    cells.forEach((cell, index) => setText(cell, texts[index] ?? ''));
  }
  setChildren(
    byId('alarms'),
    sorted.flatMap(({ name }) => lines.get(name)?.row ?? []),
  );
}

function newLine(name: string): Line {
  const cells = [element('td'), element('td', { class: 'number' }), element('td', { class: 'number' }), element('td')];
  const line = { row: element('tr', {}, element('th', { scope: 'row' }, name), ...cells), cells };
  lines.set(name, line);
  return line;
}
