import * as Y from 'yjs';
import { encodeState, MalformedUpdate } from './document.ts';
import { readArray, readMap } from './json.ts';
import { readText } from './plainText.ts';
import { itemsOf, rootOf, type Shared } from './types.ts';
import { TooManyConflicts } from './integration.ts';
import {
  copyWith,
  decodeBounded,
  faultOfAddition,
  hasForeignWriting,
  isTooDeep,
  isWaitingForTooMuch,
} from './updates.ts';
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
 * Why a client's update is refused, or undefined. First its structure is judged, without applying it: malformed bytes, subdocuments, other root
 * types than the content, more clients or structs than a document may have, changes of the service that this document does not have (the update
 * comes from a document that was deleted). Then a copy of the document with the update is judged: its size, its depth, how much waits for
 * missing updates, how many conflicts it has, whether it fits the type.
 */
export function faultOfUpdate(doc: Y.Doc, type: CrdtType, contentKey: string, update: Uint8Array): string | undefined {
  if (update.length > crdtLimits.stateBytes) return 'Update must not be larger than 4 MB.';
  try {
    const decoded = decodeBounded(update);
    if (typeof decoded === 'string') return decoded;
    if (hasForeignWriting(doc, decoded))
      return 'Update has changes of another document: one of this name may have been deleted.';
    return (
      faultOfAddition(doc, contentKey, decoded) ?? faultOfDocument(copyWith(doc, update, decoded), type, contentKey)
    );
  } catch (error) {
    if (error instanceof MalformedUpdate) return error.message;
    if (error instanceof TooManyConflicts) return 'Update has too many concurrent changes in one place.';
    if (error instanceof XmlTooLong) return tooLarge;
    throw error;
  }
}

function faultOfDocument(changed: Y.Doc, type: CrdtType, contentKey: string): string | undefined {
  if (encodeState(changed).length > crdtLimits.stateBytes) return 'The document must not be larger than 4 MB.';
  if (isWaitingForTooMuch(changed))
    return `Update must not wait for others with more than ${crdtLimits.waitingBytes} bytes: send the missing updates first.`;
  return isTooDeep(changed) ? tooDeep : faultOfContent(changed, type, contentKey);
}

function faultOfContent(doc: Y.Doc, type: CrdtType, contentKey: string): string | undefined {
  const root = rootOf(doc, contentKey);
  if (root && !fits(root, type))
    return `Update must hold ${contents[type]} under ${JSON.stringify(contentKey)}, for type ${type}.`;
  if (type === 'map' || type === 'array') return faultOfValue(type, readValue(doc, type, contentKey));
  const text = type === 'xml' ? readXml(doc, contentKey, crdtLimits.valueBytes) : readValue(doc, type, contentKey);
  return jsonBytes(text) > crdtLimits.valueBytes ? tooLarge : undefined;
}

const contents: Readonly<Record<CrdtType, string>> = {
  text: 'a Y.Text',
  map: 'a Y.Map',
  array: 'a Y.Array',
  xml: 'a Y.XmlFragment or Y.XmlText',
};

function fits(root: Shared, type: CrdtType): boolean {
  const items = [...itemsOf(root)];
  const isText = ({ content }: Y.Item) =>
    content instanceof Y.ContentString || content instanceof Y.ContentFormat || content instanceof Y.ContentEmbed;
  switch (type) {
    case 'text':
      return items.every(isText);
    case 'map':
      return items.length === 0;
    case 'array':
      return ![...root._map.values()].some(({ deleted }) => !deleted) && !items.some(isText);
    case 'xml':
      return items.every(isXmlItem);
  }
}
