import { encodeName, escapeAttribute, escapeText, replaceDisallowed } from './xmlEscapes.ts';

/**
 * ProseMirror and TipTap store elements (`element`) and formatted texts (`text`), whose marks are elements around them
 * in XML. Lexical stores each block as a text with its children (`block`), and each text as a map of properties
 * followed by the characters (`span`).
 */
export type XmlNode = TextNode | ElementNode | SpanNode;

export interface TextNode {
  readonly shape: 'text';
  readonly runs: readonly TextRun[];
}
/** An `opaque` node has content that XML cannot express. It stays as it is until another node replaces it. */
export interface ElementNode extends Named {
  readonly shape: 'element' | 'block' | 'opaque';
  readonly children: readonly XmlNode[];
}
/** `loose` characters have no map of properties before them, because another client deleted the map. */
export interface SpanNode extends Named {
  readonly shape: 'span' | 'loose';
  readonly text: string;
}
export interface Named {
  readonly name: string;
  readonly attributes: readonly Attribute[];
}
export type Attribute = readonly [name: string, text: string];
export interface TextRun {
  readonly text: string;
  readonly marks: readonly Named[];
}

/** Like the elements of ProseMirror, or like the spans in a block of Lexical. */
export type ListKind = 'elements' | 'spans';

/** Attributes of Lexical have these values when they are missing. XML leaves out attributes with these values. */
export const blockDefaults: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['__format', 0],
  ['__style', ''],
  ['__mode', 0],
  ['__detail', 0],
  ['__indent', 0],
  ['__dir', null],
  ['__textFormat', 0],
  ['__textStyle', ''],
]);

export function attributeText(value: unknown): string | undefined {
  if (typeof value === 'string') return replaceDisallowed(value);
  // Yjs can store a bigint, which JSON cannot express.
  const withoutBigint = (_key: string, part: unknown) => (typeof part === 'bigint' ? Number(part) : part);
  return value === null || value === undefined ? undefined : JSON.stringify(value, withoutBigint);
}

export function keyOf({ name, attributes }: Named): string {
  return JSON.stringify([name, ...attributes.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

export function marksKeyOf(marks: readonly Named[]): string {
  return marks.map(keyOf).join();
}

export function addRun(runs: TextRun[], { text, marks }: TextRun): void {
  const last = runs.at(-1);
  if (last?.marks.length === marks.length && marksKeyOf(last.marks) === marksKeyOf(marks))
    runs[runs.length - 1] = { text: last.text + text, marks: last.marks };
  else runs.push({ text, marks });
}

export class XmlTooLong extends Error {}

/**
 * XML can be much larger than the document, because it repeats the marks of each run. Equal nodes always give the same
 * text.
 */
export function writeXml(nodes: readonly XmlNode[], limit: number): string {
  const parts: string[] = [];
  let remaining = limit;
  const write = (text: string) => {
    parts.push(text);
    remaining -= text.length;
    if (remaining < 0) throw new XmlTooLong();
  };
  const writeStart = ({ name, attributes }: Named) => {
    write(`<${encodeName(name)}`);
    for (const [key, value] of attributes) write(` ${encodeName(key)}="${escapeAttribute(value)}"`);
    write('>');
  };
  const writeEnd = ({ name }: Named) => write(`</${encodeName(name)}>`);
  const writeRun = ({ text, marks }: TextRun) => {
    marks.forEach(writeStart);
    write(escapeText(text));
    marks.toReversed().forEach(writeEnd);
  };
  const writeNodes = (list: readonly XmlNode[]) => {
    let isAfterText = false;
    for (const node of list) {
      const isBare: boolean = 'text' in node && isBareText(node, isAfterText);
      if (node.shape === 'text') node.runs.forEach(writeRun);
      else {
        if (!isBare) writeStart(node);
        if ('text' in node) write(escapeText(node.text));
        else writeNodes(node.children);
        if (!isBare) writeEnd(node);
      }
      isAfterText = isBare;
    }
  };
  writeNodes(nodes);
  return parts.join('');
}

/** The second of two adjacent texts needs an element, because a parser would join them. */
function isBareText({ shape, name, attributes, text }: SpanNode, isAfterText: boolean): boolean {
  if (text === '') return false;
  return shape === 'loose' || (name === 'text' && attributes.length === 0 && !isAfterText);
}
