import * as Y from 'yjs';
import { Interner } from './align.ts';
import { textEdits } from './textDiff.ts';
import { rootOf } from './types.ts';
import type { Writer } from './writers.ts';
import { digestOf, plainXml, SPELLED, spellingKey } from './xml.ts';
import { nodesOf } from './xmlNodes.ts';
import { parseXml } from './xmlParse.ts';
import { kindOf, readNodes, Usage } from './xmlRead.ts';
import { XmlReplacement } from './xmlReplace.ts';

/** Makes the XML of a document this one: by node, attribute, run of formatting and character. */
export function replaceXml(doc: Y.Doc, contentKey: string, target: string, writer: Writer): void {
  const stored = rootOf(doc, contentKey);
  const kind = kindOf(stored, contentKey);
  const before = stored ? readNodes(stored, kind) : [];
  const usage = new Usage(before, kind);
  const after = nodesOf(parseXml(target), kind, usage);
  const root = kind === 'elements' ? doc.getXmlFragment(contentKey) : doc.get(contentKey, Y.XmlText);
  new XmlReplacement(writer, usage, new Interner()).replaceNodes(root, before, after);
  spell(doc, contentKey, target, writer);
}

/** Keeps how XML was written, beside what the editors' types hold of it (see `readXml`). */
function spell(doc: Y.Doc, contentKey: string, target: string, writer: Writer): void {
  const plain = plainXml(doc, contentKey, Infinity);
  const kept = doc.getMap<unknown>(spellingKey(contentKey));
  if (plain === target) return kept.delete(SPELLED);
  const edits = textEdits(plain, target).flatMap(({ index, remove, insert }) => [index, remove, insert]);
  writer.overwriting(kept._map.get(SPELLED), () => kept.set(SPELLED, [digestOf(plain), ...edits]));
}
