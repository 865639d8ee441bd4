import { isDeepStrictEqual } from 'node:util';
import * as Y from 'yjs';
import { encodeState, openDocument } from './document.ts';
import { spellingKey } from './readXml.ts';
import type { Shared } from './sharedTypes.ts';
import { contentReader, isPresent, kindOf, selectedItem, type Selection } from './typeContent.ts';
import { Writer } from './writers.ts';

export interface Restoration {
  readonly update?: Uint8Array;
  readonly fault?: string;
}

/**
 * Returns the change that gives the document the content of an earlier state, or neither field if it has the content.
 * `fault` is a sentence for the caller. Store the update only if no other one was stored since the document was read,
 * because Yjs client ids are reused (see `writers.ts`).
 */
export function restoreState(now: Y.Doc, contentKey: string, version: Uint8Array): Restoration {
  const doc = openDocument([version]);
  const wanted = contentsOf(doc, contentKey);
  if (isDeepStrictEqual(contentsOf(now, contentKey), wanted)) return {};
  const update = changeToVersion(doc, now, contentKey);
  const result = openDocument([encodeState(now), ...(update ? [update] : [])]);
  if (isDeepStrictEqual(contentsOf(result, contentKey), wanted)) return update ? { update } : {};
  return { fault: 'Only the clients that wrote its content can rebuild it.' };
}

function rootsOf(doc: Y.Doc, contentKey: string): Shared[] {
  return [contentKey, spellingKey(contentKey)].map((name) => doc.get(name) as Shared);
}

function contentsOf(doc: Y.Doc, contentKey: string): unknown[] {
  return rootsOf(doc, contentKey).map(contentReader(isPresent));
}

/** `doc` has the state of the version. It takes later changes, and keeps what they delete. */
function changeToVersion(doc: Y.Doc, now: Y.Doc, contentKey: string): Uint8Array | undefined {
  const version = Y.snapshot(doc);
  doc.gc = false;
  // After changes that are not local, Yjs removes redundant marks. The outer transaction is local.
  doc.transact(() => {
    Y.applyUpdate(doc, encodeState(now));
  });
  const writer = new Writer(doc);
  let update: Uint8Array | undefined;
  doc.once('update', (made: Uint8Array) => {
    update = made;
  });
  doc.transact((transaction) => {
    const replacement = new Replacement(transaction, version, writer);
    for (const root of rootsOf(doc, contentKey)) replacement.restore(root, root);
  });
  return update;
}

/** Items in a list between two that stay: those that it has now, and those that it had in the version. */
interface Gap {
  readonly left: Y.Item | null;
  readonly present: Y.Item[];
  readonly wanted: Y.Item[];
}

/** Each split takes time in proportion to the structs of its client. */
const MAX_SPLITS = 1_000;

class Replacement {
  readonly #transaction: Y.Transaction;
  readonly #version: Y.Snapshot;
  readonly #writer: Writer;
  readonly #isWanted: Selection = ({ id }) => id.clock < this.#clockOf(id) && !Y.isDeleted(this.#version.ds, id);
  readonly #readPresent = contentReader(isPresent);
  readonly #readWanted = contentReader(this.#isWanted);
  #splits = MAX_SPLITS;

  constructor(transaction: Y.Transaction, version: Y.Snapshot, writer: Writer) {
    this.#transaction = transaction;
    this.#version = version;
    this.#writer = writer;
  }

  /** Gives `target` what `source` had in the version. Both are the same type, unless `target` replaces `source`. */
  restore(target: Shared, source: Shared): void {
    for (const key of new Set([...target._map.keys(), ...source._map.keys()])) this.#restoreEntry(target, source, key);
    let gap: Gap = { left: null, present: [], wanted: [] };
    for (let item = target._start; item; item = item.right) {
      this.#splitAtVersion(item);
      if (!this.#isWanted(item)) {
        if (!item.deleted) gap.present.push(item);
      } else if (item.deleted) gap.wanted.push(item);
      else {
        this.#fillGap(target, gap);
        this.#restoreInner(item, item);
        gap = { left: item, present: [], wanted: [] };
      }
    }
    for (let item = target === source ? null : source._start; item; item = item.right)
      if (this.#isWanted(item)) gap.wanted.push(item);
    this.#fillGap(target, gap);
  }

  #clockOf({ client }: Y.ID): number {
    return this.#version.sv.get(client) ?? 0;
  }

  /** Yjs joins what a client wrote before the version and after it. */
  #splitAtVersion({ id, length }: Y.Item): void {
    const end = this.#clockOf(id);
    if (id.clock < end && end < id.clock + length) this.#splitAt(id.client, end);
  }

  #splitAt(client: number, clock: number): Y.Item {
    return Y.getItemCleanStart(this.#transaction, Y.createID(client, clock));
  }

  #restoreEntry(target: Shared, source: Shared, key: string): void {
    const last = target._map.get(key);
    const wanted = selectedItem(source._map.get(key), this.#isWanted);
    if (!wanted) last?.delete(this.#transaction);
    else if (last && !last.deleted && this.#canStay(last, wanted)) this.#restoreInner(last, wanted);
    else this.#writer.overwrite(last, () => this.#insertCopy(target, last ?? null, wanted, key));
  }

  /** Content that equals what is wanted stays, so that a second restore changes little. */
  #fillGap(target: Shared, { left, present, wanted }: Gap): void {
    const isEmpty = present.length === 0;
    const starts = this.#takeEqual(present.reverse(), wanted.reverse(), false);
    this.#takeEqual(present.reverse(), wanted.reverse(), true);
    const isAligned = present.length === wanted.length;
    if (!isAligned) for (const item of present) item.delete(this.#transaction);
    let last = starts.at(-1) ?? left;
    let values: Y.Item[] = [];
    const insertValues = () => {
      const [first] = values;
      if (first) last = this.#insertCopy(target, last, first, null, joinedValues(first, values));
      values = [];
    };
    for (const [index, item] of wanted.entries()) {
      const current = isAligned ? present[index] : undefined;
      if (current && this.#canStay(current, item)) {
        insertValues();
        this.#restoreInner(current, item);
        last = current;
        continue;
      }
      current?.delete(this.#transaction);
      if (item.content instanceof Y.ContentAny) {
        values.push(item);
        continue;
      }
      insertValues();
      // Copies of texts are together, which needs fewer structs. A copy of a type is where unsent edits expect the type.
      const isInPlace = isEmpty && item.parent === target && item.content instanceof Y.ContentType;
      last = this.#insertCopy(target, isInPlace ? item.left : last, item);
    }
    insertValues();
  }

  /** Removes equal items from the end of both lists, and returns those of `present`. `isEnd` compares ends of items. */
  #takeEqual(present: Y.Item[], wanted: Y.Item[], isEnd: boolean): Y.Item[] {
    const taken: Y.Item[] = [];
    for (;;) {
      const [a, b] = [present.at(-1), wanted.at(-1)];
      if (!a || !b || !this.#isEqual(a, b, isEnd)) return taken;
      const length = Math.min(a.length, b.length);
      taken.push(this.#takePart(present, length, isEnd));
      this.#takePart(wanted, length, isEnd);
    }
  }

  #takePart(items: Y.Item[], length: number, isEnd: boolean): Y.Item {
    const item = items.pop() as Y.Item;
    if (item.length === length) return item;
    const right = this.#splitAt(item.id.client, item.id.clock + (isEnd ? item.length - length : length));
    items.push(isEnd ? item : right);
    return isEnd ? right : item;
  }

  #isEqual(a: Y.Item, b: Y.Item, isEnd: boolean): boolean {
    const [typeA, typeB] = [typeOf(a), typeOf(b)];
    if (typeA && typeB) return isDeepStrictEqual(this.#readPresent(typeA), this.#readWanted(typeB));
    // A client can have removed a mark as redundant, and sends this later.
    if (a.content instanceof Y.ContentFormat && a !== b) return false;
    if (a.length !== b.length && this.#splits-- <= 0) return false;
    const length = Math.min(a.length, b.length);
    return isDeepStrictEqual(plainContent(a, length, isEnd), plainContent(b, length, isEnd));
  }

  #canStay(present: Y.Item, wanted: Y.Item): boolean {
    const [a, b] = [typeOf(present), typeOf(wanted)];
    return (
      present === wanted ||
      (a && b ? kindOf(a) === kindOf(b) : present.length === wanted.length && this.#isEqual(present, wanted, false))
    );
  }

  #restoreInner(present: Y.Item, wanted: Y.Item): void {
    const [target, source] = [typeOf(present), typeOf(wanted)];
    if (target && source) this.restore(target, source);
  }

  #insertCopy(
    parent: Shared,
    left: Y.Item | null,
    item: Y.Item,
    key: string | null = null,
    content = item.content.copy(),
  ): Y.Item {
    const { clientID, store } = this.#transaction.doc;
    const right = key === null ? (left ? left.right : parent._start) : null;
    const id = Y.createID(clientID, Y.getState(store, clientID));
    const copy = new Y.Item(id, left, left?.lastId ?? null, right, right?.id ?? null, parent, key, content);
    copy.integrate(this.#transaction, 0);
    this.#restoreInner(copy, item);
    return copy;
  }
}

/** As one content, because the memory in which Yjs joins many items of values is quadratic in their number. */
function joinedValues({ content }: Y.Item, items: readonly Y.Item[]): Y.Item['content'] {
  const copy = content.copy();
  const values = items.flatMap((item) => item.content.getContent() as unknown[]);
  return content instanceof Y.ContentAny ? Object.assign(copy, { arr: values }) : copy;
}

function typeOf({ content }: Y.Item): Shared | undefined {
  return content instanceof Y.ContentType ? (content.type as Shared) : undefined;
}

function plainContent({ content, length: whole }: Y.Item, length: number, isEnd: boolean): unknown[] {
  const [from, to] = isEnd ? [whole - length, whole] : [0, length];
  if (content instanceof Y.ContentString) return ['text', content.str.slice(from, to)];
  if (content instanceof Y.ContentFormat) return ['mark', content.key, content.value];
  return [content.constructor, content.getContent().slice(from, to)];
}
