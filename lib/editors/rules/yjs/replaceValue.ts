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

export function findValueFault(type: CrdtType, value: unknown): string | undefined {
  return findJsonFault(type, value) ?? (type === 'xml' ? findXmlFault(value as string, crdtLimits) : undefined);
}

/**
 * Returns a small change, or undefined if the document already has the value. `value` must have no fault. Store the
 * update only if no other one was stored since the document was read, because Yjs client ids are reused (see
 * `writers.ts`).
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
