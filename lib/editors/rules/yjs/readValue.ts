import type * as Y from 'yjs';
import { readArray, readMap } from './json.ts';
import { readText } from './plainText.ts';
import { readXml } from './readXml.ts';
import { rootOf, type Shared } from './sharedTypes.ts';
import type { CrdtType, CrdtValue } from './values.ts';

const readers: Readonly<Record<Exclude<CrdtType, 'xml'>, { read: (root: Shared) => CrdtValue; empty: CrdtValue }>> = {
  text: { read: readText, empty: '' },
  map: { read: readMap, empty: {} },
  array: { read: readArray, empty: [] },
};

/** Until a client changes the document, this is exactly the value that was written. */
export function readValue(doc: Y.Doc, type: CrdtType, contentKey: string): CrdtValue {
  if (type === 'xml') return readXml(doc, contentKey);
  const root = rootOf(doc, contentKey);
  const { read, empty } = readers[type];
  return root ? read(root) : empty;
}
