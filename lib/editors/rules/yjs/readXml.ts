import { createHash } from 'node:crypto';
import type * as Y from 'yjs';
import { kindOf, readNodes } from './readXmlNodes.ts';
import { rootOf, valueOf } from './types.ts';
import { writeXml } from './xmlNodes.ts';

/** More characters than any value may have: a document that several clients made too large stays readable. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The key under the spelling root that has the edits. */
export const SPELLING_EDITS = 'edits';

/**
 * Returns the XML of a document, exactly as it was written until a client changes it. Throws XmlTooLong above `limit` characters.
 *
 * The same XML has many spellings (`<br/>`, `<br></br>`, quotes, order of attributes, comments, line breaks between elements) that
 * the editors' types cannot hold. A root beside the content holds the edits that lead from our own spelling to the written one,
 * and a digest of our spelling, which shows whether the edits still apply.
 */
export function readXml(doc: Y.Doc, contentKey: string, limit = MAX_CHARACTERS): string {
  const plain = readPlainXml(doc, contentKey, limit);
  const spelling = valueOf(rootOf(doc, spellingKey(contentKey))?._map.get(SPELLING_EDITS));
  if (!Array.isArray(spelling) || spelling[0] !== digestOf(plain)) return plain;
  let text = '';
  let end = 0;
  for (let next = 1; next < spelling.length; next += 3) {
    const [index, remove, insert] = spelling.slice(next, next + 3) as unknown[];
    // A client can write here too.
    const isEdit = typeof index === 'number' && typeof remove === 'number' && typeof insert === 'string';
    if (!isEdit || index < end || !(remove >= 0)) return plain;
    text += plain.slice(end, index) + insert;
    end = index + remove;
  }
  return text + plain.slice(end);
}

/** Returns the XML of a document in our own spelling. */
export function readPlainXml(doc: Y.Doc, contentKey: string, limit: number): string {
  const root = rootOf(doc, contentKey);
  return root ? writeXml(readNodes(root, kindOf(root, contentKey)), limit) : '';
}

/** Returns the name of the root that holds the spelling of a document's XML. */
export function spellingKey(contentKey: string): string {
  return `spelling:${contentKey}`;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}
