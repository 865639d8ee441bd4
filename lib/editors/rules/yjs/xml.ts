import { createHash } from 'node:crypto';
import * as Y from 'yjs';
import { contentOf, rootOf, type Shared } from './types.ts';
import { writeXml } from './xmlNodes.ts';
import { kindOf, readNodes } from './xmlRead.ts';

/** More than any value may be, so that a document that several clients made too large can still be read. */
const LONGEST = 16 * 1024 * 1024;

/** The XML of a document: as it was written, as long as the document says the same. XmlTooLong above `limit` characters. */
export function readXml(doc: Y.Doc, contentKey: string, limit = LONGEST): string {
  return spelled(doc, contentKey, plainXml(doc, contentKey, limit));
}

/** The XML of a document in the one way in which we write it. */
export function plainXml(doc: Y.Doc, contentKey: string, limit: number): string {
  const root = rootOf(doc, contentKey);
  return root ? writeXml(readNodes(root, kindOf(root, contentKey)), limit) : '';
}

/*
 * XML can be written in many ways (`<br/>`, `<br></br>`; quotes; order of attributes; comments; line breaks between elements). What of
 * the way it was written the editors' types cannot hold is kept beside them, as the edits that lead to it from the one way in which
 * we write. As soon as a client changes the document, they no longer hold, which the digest tells.
 */
function spelled(doc: Y.Doc, contentKey: string, plain: string): string {
  const item = rootOf(doc, spellingKey(contentKey))?._map.get(SPELLED);
  const kept = item && !item.deleted ? contentOf(item) : undefined;
  if (!Array.isArray(kept) || kept[0] !== digestOf(plain)) return plain;
  let text = '';
  let at = 0;
  for (let next = 1; next < kept.length; next += 3) {
    const [index, remove, insert] = kept.slice(next, next + 3) as [unknown, unknown, unknown];
    // A client can write here as well.
    if (
      typeof index !== 'number' ||
      typeof remove !== 'number' ||
      typeof insert !== 'string' ||
      index < at ||
      !(remove >= 0)
    )
      return plain;
    text += plain.slice(at, index) + insert;
    at = index + remove;
  }
  return text + plain.slice(at);
}

/** Where in a document it is kept how its XML was written. */
export function spellingKey(contentKey: string): string {
  return `spelling:${contentKey}`;
}

export const SPELLED = 'edits';

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 22);
}

/** What an XML document may not hold: what no editor of XML writes. */
export function isXmlItem({ content }: Y.Item): boolean {
  return (
    content instanceof Y.ContentString ||
    content instanceof Y.ContentFormat ||
    content instanceof Y.ContentEmbed ||
    (content instanceof Y.ContentType && !isPlain(content.type))
  );
}

function isPlain(type: unknown): boolean {
  return (type as Shared).constructor === Y.Array || (type as Shared).constructor === Y.Text;
}
