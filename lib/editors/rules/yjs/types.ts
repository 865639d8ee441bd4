import * as Y from 'yjs';

/** A shared type of any kind: what it holds is read from its items, whatever class it was given. */
export type Shared = Y.AbstractType<unknown>;

/** What a document has under a name, of no kind yet; undefined when nothing was ever written there. */
export function rootOf(doc: Y.Doc, name: string): Shared | undefined {
  return doc.share.get(name) as Shared | undefined;
}

/** The items of a list that are there, in their order, those that mark formatting among them. */
export function* itemsOf(list: Shared): Generator<Y.Item> {
  for (let item = list._start; item !== null; item = item.right) if (!item.deleted) yield item;
}

/** The keys that a map has, or the attributes of an element, with the items that hold them, in the order in which they first came. */
export function entriesOf(map: Shared): [string, Y.Item][] {
  const entries = [...map._map]
    .filter(([, item]) => !item.deleted)
    .map(([key, item]) => ({ key, item, first: firstOf(item).id }));
  return entries
    .sort((a, b) => a.first.client - b.first.client || a.first.clock - b.first.clock)
    .map(({ key, item }) => [key, item]);
}

/** The item that held the key before all others. */
function firstOf(item: Y.Item): Y.Item {
  let first = item;
  while (first.left) first = first.left;
  return first;
}

/** What an item of a map holds: a type or a plain value. */
export function contentOf(item: Y.Item): unknown {
  return item.content instanceof Y.ContentType ? item.content.type : item.content.getContent()[item.length - 1];
}
