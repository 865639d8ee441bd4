import { hash } from 'node:crypto';
import type * as Y from 'yjs';
import { kindOf, readNodes } from './readXmlNodes.ts';
import { rootOf, valueOf } from './sharedTypes.ts';
import { writeXml } from './xmlNodes.ts';
import { Vocabulary } from './xmlVocabulary.ts';

/** Above the limit of a value, so that a document remains readable if several clients together made it too large. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

export const SPELLING_EDITS = 'edits';

/**
 * Returns the XML exactly as it was written until a client changes it. Throws XmlTooLong if the service's own spelling
 * has more than `limit` characters.
 *
 * The same XML can be spelled in many ways (`<br/>`, `<br></br>`, quotes, comments). A second root type stores the
 * edits from the service's own spelling to the written one, and a digest of the service's spelling. If the digest
 * differs, the content has changed, and the edits are ignored.
 */
export function readXml(doc: Y.Doc, contentKey: string, limit = MAX_CHARACTERS): string {
  const { plain, declaration } = readPlainXml(doc, contentKey, limit);
  const spelling = valueOf(rootOf(doc, spellingKey(contentKey))?._map.get(SPELLING_EDITS));
  if (!Array.isArray(spelling) || spelling[0] !== digestOf(plain)) return declaration + plain;
  let text = '';
  let end = 0;
  for (let next = 1; next < spelling.length; next += 3) {
    const [index, remove, insert] = spelling.slice(next, next + 3) as unknown[];
    // Clients can write to this root type too, so each edit is checked.
    const isEdit = typeof index === 'number' && typeof remove === 'number' && typeof insert === 'string';
    if (!isEdit || index < end || !(remove >= 0)) return declaration + plain;
    text += plain.slice(end, index) + insert;
    end = index + remove;
  }
  return text + plain.slice(end);
}

export function readPlainXml(
  doc: Y.Doc,
  contentKey: string,
  limit: number,
): { readonly plain: string; readonly declaration: string } {
  const root = rootOf(doc, contentKey);
  if (!root) return { plain: '', declaration: '' };
  const kind = kindOf(root, contentKey);
  const nodes = readNodes(root, kind);
  const { declaration } = new Vocabulary(nodes, kind);
  return { plain: writeXml(nodes, limit - declaration.length), declaration };
}

export function spellingKey(contentKey: string): string {
  return `spelling:${contentKey}`;
}

export function digestOf(text: string): string {
  return hash('sha256', text, 'base64').slice(0, 22);
}
