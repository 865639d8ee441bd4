import { createDecoder, hasContent } from 'lib0/decoding';
import * as Y from 'yjs';
import { copyOf, MalformedUpdate } from './document.ts';
import { crdtLimits } from './values.ts';
import { isWriter } from './writers.ts';

/** A copy of the document with a client's update in it. MalformedUpdate when the update is none, or has something behind its end. */
export function copyWith(doc: Y.Doc, update: Uint8Array): Y.Doc {
  const changed = copyOf(doc);
  try {
    // Reads it once without believing how much it says to have: Yjs would make room for that.
    Y.decodeUpdate(update);
    const decoder = createDecoder(update);
    Y.readUpdate(decoder, changed);
    if (!hasContent(decoder)) return changed;
  } catch (cause) {
    throw new MalformedUpdate('Update must be a Yjs update (format 1).', { cause });
  }
  throw new MalformedUpdate('Update must be a Yjs update (format 1), and end with it.');
}

/**
 * Whether an update has changes of the service, or deletes some, that the document does not have: what the service writes next would
 * meet them under the same ids.
 */
export function hasForeignWriting(doc: Y.Doc, update: Uint8Array): boolean {
  const { structs, ds } = Y.decodeUpdate(update);
  const isForeign = (client: number, end: number) => isWriter(client) && end > Y.getState(doc.store, client);
  return structs.some((struct) => !(struct instanceof Y.Skip) && isForeign(struct.id.client, struct.id.clock + struct.length))
    || [...ds.clients].some(([client, deletions]) => deletions.some(({ clock, len }) => isForeign(client, clock + len)));
}

/** Whether types lie too deep in each other, wherever in the document: Yjs goes through them by recursion. */
export function isTooDeep(doc: Y.Doc): boolean {
  const depths = new Map<Y.Item, number>();
  for (const structs of doc.store.clients.values()) {
    for (const struct of structs) {
      if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) continue;
      const around: Y.Item[] = [];
      let item: Y.Item | null = struct;
      for (; item && !depths.has(item); item = item.parent instanceof Y.AbstractType ? item.parent._item : null) around.push(item);
      let depth = item ? depths.get(item)! : 0;
      for (const each of around.reverse()) depths.set(each, ++depth);
      // One more than values may be deep: the characters of an element are in a text of its own.
      if (depth > crdtLimits.depth + 1) return true;
    }
  }
  return false;
}
