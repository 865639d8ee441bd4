import { createHash } from 'node:crypto';
import type * as Y from 'yjs';
import { kindOf, readNodes } from './readXmlNodes.ts';
import { rootOf, valueOf } from './types.ts';
import { writeXml } from './xmlNodes.ts';

/**
 * The largest number of characters that are read. It is more than a value may have, so that a document that several clients made
 * too large stays readable.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** The key of the edits in the root type with the spelling. */
export const SPELLING_EDITS = 'edits';

/**
 * Returns the XML of a document, exactly as it was written until a client changes it. Throws XmlTooLong above `limit` characters.
 *
 * The same XML has many spellings (`<br/>`, `<br></br>`, quotes, order of attributes, comments, line breaks between elements) that
 * the types of editors cannot store. A root type beside the content stores the edits that turn the service's own spelling into the
 * written one, and a digest of the service's spelling. The edits apply only if the digest is still right.
 */
export function readXml(doc: Y.Doc, contentKey: string, limit = MAX_CHARACTERS): string {
  const plain = readPlainXml(doc, contentKey, limit);
  const spelling = valueOf(rootOf(doc, spellingKey(contentKey))?._map.get(SPELLING_EDITS));
  if (!Array.isArray(spelling) || spelling[0] !== digestOf(plain)) return plain;
  let text = '';
  let end = 0;
  for (let next = 1; next < spelling.length; next += 3) {
    const [index, remove, insert] = spelling.slice(next, next + 3) as unknown[];
    // A client can write to this root type too, so check each edit.
    const isEdit = typeof index === 'number' && typeof remove === 'number' && typeof insert === 'string';
    if (!isEdit || index < end || !(remove >= 0)) return plain;
    text += plain.slice(end, index) + insert;
    end = index + remove;
  }
  return text + plain.slice(end);
}

/** Returns the XML of a document in the service's own spelling. Throws XmlTooLong above `limit` characters. */
export function readPlainXml(doc: Y.Doc, contentKey: string, limit: number): string {
  const root = rootOf(doc, contentKey);
  return root ? writeXml(readNodes(root, kindOf(root, contentKey)), limit) : '';
}

/** Returns the name of the root type that stores the spelling of a document's XML. */
export function spellingKey(contentKey: string): string {
  return `spelling:${contentKey}`;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}
