import * as Y from 'yjs';

/** Clients can give a type another class, so readers use its items. */
export type Shared = Y.AbstractType<unknown>;

/** Returns undefined if nothing was ever written to the root type. */
export function rootOf(doc: Y.Doc, name: string): Shared | undefined {
  return doc.share.get(name) as Shared | undefined;
}

/** Leaves out deleted items. Formatting marks are items too. */
export function* itemsOf(list: Shared): Generator<Y.Item> {
  for (let item = list._start; item !== null; item = item.right) if (!item.deleted) yield item;
}

/** Orders entries by the client that first wrote the key, then by the order of its writes. */
export function entriesOf(map: Shared): [string, Y.Item][] {
  return [...map._map]
    .filter(([, item]) => !item.deleted)
    .map(([key, item]) => ({ key, item, first: firstItemOf(item).id }))
    .sort((a, b) => a.first.client - b.first.client || a.first.clock - b.first.clock)
    .map(({ key, item }) => [key, item]);
}

function firstItemOf(item: Y.Item): Y.Item {
  let first = item;
  while (first.left) first = first.left;
  return first;
}

export function valueOf(item: Y.Item | undefined): unknown {
  if (!item || item.deleted) return undefined;
  return item.content instanceof Y.ContentType ? item.content.type : item.content.getContent()[item.length - 1];
}

export function isText({ content }: Y.Item): boolean {
  return content instanceof Y.ContentString || content instanceof Y.ContentFormat || content instanceof Y.ContentEmbed;
}
