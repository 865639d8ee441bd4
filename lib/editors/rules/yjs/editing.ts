import type * as Y from 'yjs';
import { Interner } from './align.ts';
import { copyOf } from './document.ts';
import { replaceArray, replaceMap } from './json.ts';
import { replaceText } from './plainText.ts';
import { crdtLimits, type CrdtType, type CrdtValue, faultOfValue } from './values.ts';
import { Writer } from './writers.ts';
import { readXml } from './xml.ts';
import { replaceXml } from './xmlEditing.ts';
import { faultOfXml } from './xmlParse.ts';

/** The same as `faultOfValue`, and XML that is not well formed. */
export function faultOf(type: CrdtType, value: unknown): string | undefined {
  return faultOfValue(type, value) ?? (type === 'xml' ? faultOfXml(value as string, crdtLimits) : undefined);
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
  changed.once('update', (made: Uint8Array) => {
    update = made;
  });
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
