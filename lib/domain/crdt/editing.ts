import * as Y from 'yjs';
import { Interner } from './align.ts';
import { copyOf, encodeState, MalformedUpdate } from './document.ts';
import { readArray, readMap, replaceArray, replaceMap } from './json.ts';
import { readText, replaceText } from './plainText.ts';
import { itemsOf, rootOf, type Shared } from './types.ts';
import { copyWith, hasForeignWriting, isTooDeep } from './updates.ts';
import { crdtLimits, type CrdtType, type CrdtValue, faultOf, jsonBytes, tooDeep, tooLarge } from './values.ts';
import { Writer } from './writers.ts';
import { isXmlItem, readXml, replaceXml } from './xml.ts';
import { XmlTooLong } from './xmlNodes.ts';

/** The value of a document exactly as it was written (spec 4.17), with what clients changed since; empty when nothing was. */
export function readValue(doc: Y.Doc, type: CrdtType, contentKey: string): CrdtValue {
  if (type === 'xml') return readXml(doc, contentKey);
  const root = rootOf(doc, contentKey);
  if (type === 'text') return root ? readText(root) : '';
  if (type === 'map') return root ? readMap(root) : {};
  return root ? readArray(root) : [];
}

/**
 * The smallest change that makes the value of a document this one (spec 4.16), as one update of one transaction; undefined when
 * nothing differs. The document itself stays as it is: the update counts when it is stored, and only if no other update came in
 * between (see `Writer`). The value must be without fault (`faultOf`).
 */
export function replaceValue(doc: Y.Doc, type: CrdtType, contentKey: string, value: CrdtValue): Uint8Array | undefined {
  const changed = copyOf(doc);
  const writer = new Writer(changed);
  let update: Uint8Array | undefined;
  changed.once('update', (made: Uint8Array) => { update = made; });
  changed.transact(() => {
    if (type === 'xml') {
      if (readXml(changed, contentKey) !== value) replaceXml(changed, contentKey, value as string, writer);
    } else if (type === 'text') {
      replaceText(changed.getText(contentKey), value as string);
    } else {
      const tools = { writer, interner: new Interner() };
      if (type === 'map') replaceMap(changed.getMap(contentKey), value as { readonly [key: string]: unknown }, tools);
      else replaceArray(changed.getArray(contentKey), value as readonly unknown[], tools);
    }
  });
  return update;
}

/**
 * Why a client's update is refused, or undefined: it is none, it has changes of the service that this document does not have (it
 * comes from a document that was deleted), it brings the document beyond the limits, or puts something else under the content key
 * than the type says. Judged on a copy. An update that waits for another one is no fault: it is kept until that one comes.
 */
export function faultOfUpdate(doc: Y.Doc, type: CrdtType, contentKey: string, update: Uint8Array): string | undefined {
  if (update.length > crdtLimits.stateBytes) return 'Update must not be larger than 4 MB.';
  try {
    const changed = copyWith(doc, update);
    if (hasForeignWriting(doc, update)) return 'Update has changes of another document: one of this name may have been deleted.';
    if (encodeState(changed).length > crdtLimits.stateBytes) return 'The document must not be larger than 4 MB.';
    return isTooDeep(changed) ? tooDeep : faultOfContent(changed, type, contentKey);
  } catch (error) {
    if (error instanceof MalformedUpdate) return error.message;
    if (error instanceof XmlTooLong) return tooLarge;
    throw error;
  }
}

function faultOfContent(doc: Y.Doc, type: CrdtType, contentKey: string): string | undefined {
  const root = rootOf(doc, contentKey);
  if (root && !fits(root, type)) return `Update must hold ${contents[type]} under ${JSON.stringify(contentKey)}, for type ${type}.`;
  if (type === 'map' || type === 'array') return faultOf(type, readValue(doc, type, contentKey));
  const text = type === 'xml' ? readXml(doc, contentKey, crdtLimits.valueBytes) : readValue(doc, type, contentKey);
  return jsonBytes(text) > crdtLimits.valueBytes ? tooLarge : undefined;
}

const contents: Readonly<Record<CrdtType, string>> = { text: 'a Y.Text', map: 'a Y.Map', array: 'a Y.Array', xml: 'a Y.XmlFragment or Y.XmlText' };

function fits(root: Shared, type: CrdtType): boolean {
  const items = [...itemsOf(root)];
  const isText = ({ content }: Y.Item) => content instanceof Y.ContentString || content instanceof Y.ContentFormat || content instanceof Y.ContentEmbed;
  switch (type) {
    case 'text': return items.every(isText);
    case 'map': return items.length === 0;
    case 'array': return ![...root._map.values()].some(({ deleted }) => !deleted) && !items.some(isText);
    case 'xml': return items.every(isXmlItem);
  }
}
