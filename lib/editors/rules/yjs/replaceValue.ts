import type * as Y from 'yjs';
import { copyOf } from './document.ts';
import { replaceArray, replaceMap } from './json.ts';
import { Interner } from './listDiff.ts';
import { findXmlFault } from './parseXml.ts';
import { replaceText } from './plainText.ts';
import { readXml } from './readXml.ts';
import { replaceXml } from './replaceXml.ts';
import { crdtLimits, type CrdtType, type CrdtValue, findJsonFault } from './values.ts';
import { Writer } from './writers.ts';

/**
 * Returns the fault of a value, for the message of the API: a fault that `findJsonFault` finds, or malformed XML. Returns
 * undefined if there is none.
 */
export function findValueFault(type: CrdtType, value: unknown): string | undefined {
  return findJsonFault(type, value) ?? (type === 'xml' ? findXmlFault(value as string, crdtLimits) : undefined);
}

/**
 * Returns the smallest change that gives a document this value, as one update. Returns undefined if the document has the value
 * already. Does not change the document. Store the update only if no other update was stored since the document was read (see
 * `writers.ts`). The value must have no fault.
 */
export function replaceValue(doc: Y.Doc, type: CrdtType, contentKey: string, value: CrdtValue): Uint8Array | undefined {
  const changed = copyOf(doc);
  const tools = { writer: new Writer(changed), interner: new Interner() };
  let update: Uint8Array | undefined;
  changed.once('update', (made: Uint8Array) => {
    update = made;
  });
  const replace: Readonly<Record<CrdtType, () => void>> = {
    text: () => replaceText(changed.getText(contentKey), value as string),
    map: () => replaceMap(changed.getMap(contentKey), value as Readonly<Record<string, unknown>>, tools),
    array: () => replaceArray(changed.getArray(contentKey), value as readonly unknown[], tools),
    xml: () => {
      if (readXml(changed, contentKey) !== value) replaceXml(changed, contentKey, value as string, tools);
    },
  };
  changed.transact(replace[type]);
  return update;
}
