import * as Y from 'yjs';
import { entriesOf, itemsOf } from '../../lib/editors/rules/yjs/sharedTypes.ts';
import type { CrdtType } from '../../lib/editors/rules/yjs/values.ts';
import { times } from './times.ts';

export type Random = (below: number) => number;

export function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % below;
  };
}

/**
 * Returns a random position between two characters. Yjs replaces a split surrogate pair by two U+FFFD, but not on all
 * clients at the same time. An embedded object takes one position.
 */
function positionIn(text: Y.Text, random: Random): number {
  let characters = '';
  for (const { content, length, countable } of itemsOf(text as never)) {
    if (content instanceof Y.ContentString) characters += content.str;
    else if (countable) characters += '\n'.repeat(length);
  }
  const position = random(characters.length + 1);
  return characters.slice(0, position).isWellFormed() ? position : position + 1;
}

const values: readonly unknown[] = [null, 1, 'one', true, { a: [1, null, 12n] }, new Uint8Array([1, 2]), -0, '😀'];

function nestedType(random: Random): Y.AbstractType<unknown> {
  const made = [
    () =>
      new Y.Map([
        ['x', values[random(values.length)]],
        ['y', new Y.Text('inner')],
      ]),
    () => Y.Array.from([1, new Y.Array()]),
    () => new Y.Text('shared'),
    () => Object.assign(new Y.XmlElement('paragraph')),
    () => new Y.XmlText('words'),
  ];
  return made[random(made.length)]!() as Y.AbstractType<unknown>;
}

function editText(text: Y.Text, random: Random): void {
  const [at, to] = [positionIn(text, random), positionIn(text, random)].sort((a, b) => a - b) as [number, number];
  const marks = { [['bold', 'link'][random(2)]!]: [true, null, { href: 'x' }][random(3)] };
  const action = random(8);
  if (action < 2) text.insert(at, ['one', 'two ', 'é', '\n', '😀 😁'][random(5)]!);
  else if (action === 2) text.insert(at, 'marked', marks);
  else if (action === 3) text.delete(at, to - at);
  else if (action < 6) text.format(at, to - at, marks);
  else if (action === 6) text.insertEmbed(at, { image: random(3) }, random(2) ? marks : {});
  else if (text instanceof Y.XmlText) {
    if (random(2)) text.setAttribute('level', values[random(6)]);
    else text.insertEmbed(at, random(2) ? new Y.Map([['__type', 'text']]) : new Y.XmlText('block'));
  } else text.insertEmbed(at, { hr: true });
}

function editList(list: Y.Array<unknown> | Y.XmlFragment, made: () => unknown, random: Random): void {
  const at = random(list.length + 1);
  if (random(3) === 0 && at < list.length) list.delete(at, 1 + random(list.length - at));
  else list.insert(at, times(1 + random(2), made) as never[]);
}

/** Changes the type or a type in it. */
export function edit(type: Y.AbstractType<unknown>, random: Random): void {
  const inner = [
    ...[...itemsOf(type)].flatMap(({ content }) => (content instanceof Y.ContentType ? content.type : [])),
    ...entriesOf(type).flatMap(([, item]) => (item.content instanceof Y.ContentType ? item.content.type : [])),
  ];
  const chosen = inner[random(inner.length + 2)];
  if (chosen) edit(chosen, random);
  else if (type instanceof Y.Text) editText(type, random);
  else if (type instanceof Y.Map) {
    const key = 'abcd'[random(4)]!;
    if (random(4) === 0) type.delete(key);
    else type.set(key, random(2) ? nestedType(random) : values[random(values.length)]);
  } else if (type instanceof Y.Array) {
    editList(type, () => (random(2) ? nestedType(random) : values[random(values.length)]), random);
  } else if (type instanceof Y.XmlElement && random(3) === 0) {
    if (random(3) === 0) type.removeAttribute('level');
    else type.setAttribute(['level', 'id'][random(2)]!, values[random(6)]);
  } else if (type instanceof Y.XmlFragment) {
    const made = [() => new Y.XmlElement('paragraph'), () => new Y.XmlText('text'), () => new Y.XmlElement('heading')];
    editList(type, () => made[random(3)]!(), random);
  }
}

export const roots: Readonly<Record<CrdtType, (doc: Y.Doc) => Y.AbstractType<unknown>>> = {
  text: (doc) => doc.getText('content') as Y.AbstractType<unknown>,
  map: (doc) => doc.getMap('content') as Y.AbstractType<unknown>,
  array: (doc) => doc.getArray('content') as Y.AbstractType<unknown>,
  xml: (doc) => doc.getXmlFragment('content') as Y.AbstractType<unknown>,
};
