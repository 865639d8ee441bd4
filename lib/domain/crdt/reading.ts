import * as Y from 'yjs';
import { encodeState, MalformedUpdate } from './document.ts';
import { readArray, readMap } from './json.ts';
import { readText } from './plainText.ts';
import { itemsOf, rootOf, type Shared } from './types.ts';
import { copyWith, hasForeignWriting, isTooDeep } from './updates.ts';
import { crdtLimits, type CrdtType, type CrdtValue, faultOfValue, jsonBytes, tooDeep, tooLarge } from './values.ts';
import { isXmlItem, readXml } from './xml.ts';
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
  if (type === 'map' || type === 'array') return faultOfValue(type, readValue(doc, type, contentKey));
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
