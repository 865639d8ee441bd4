import { encodeName, escapeAttribute, escapeText, replaceDisallowed } from './xmlEscapes.ts';

/**
 * A node of an XML document, as an editor stores it. ProseMirror and TipTap store elements (`element`) and formatted
 * texts (`text`); XML shows their marks as elements around the text. Lexical stores each block as a text that holds its
 * children (`block`), and each text as a map of properties followed by its characters (`span`).
 */
export type XmlNode = TextNode | ElementNode | SpanNode;

export interface TextNode {
  readonly shape: 'text';
  readonly runs: readonly Run[];
}
/** An `opaque` node has no form in XML. It is readable and stays until another node replaces it. */
export interface ElementNode extends Named {
  readonly shape: 'element' | 'block' | 'opaque';
  readonly children: readonly XmlNode[];
}
/** Characters in a block. `loose` ones have no map before them: another client deleted it. */
export interface SpanNode extends Named {
  readonly shape: 'span' | 'loose';
  readonly text: string;
}
/** The fields that elements, spans and marks share. */
export interface Named {
  readonly name: string;
  readonly attributes: readonly Attribute[];
}
export type Attribute = readonly [name: string, text: string];
/** Characters with the same marks. */
export interface Run {
  readonly text: string;
  /** Sorted by name. */
  readonly marks: readonly Named[];
}

/** How a list of nodes is stored: as in ProseMirror, or as within the blocks of Lexical. */
export type ListKind = 'elements' | 'spans';

/** Lexical's defaults for missing attributes. XML leaves them out. */
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

/**
 * Returns the value of an attribute as text: strings as they are, anything else as JSON; undefined for a value that XML
 * leaves out.
 */
export function attributeText(value: unknown): string | undefined {
  if (typeof value === 'string') return replaceDisallowed(value);
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}

/** Returns a key that is equal for equal names and attributes. The order of the attributes makes no difference. */
export function keyOf({ name, attributes }: Named): string {
  return JSON.stringify([name, ...attributes.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

export function marksKeyOf(marks: readonly Named[]): string {
  return marks.map(keyOf).join();
}

/** Adds a run; merges it into the last one when both have the same marks. */
export function addRun(runs: Run[], { text, marks }: Run): void {
  const last = runs.at(-1);
  if (last && marksKeyOf(last.marks) === marksKeyOf(marks))
    runs[runs.length - 1] = { text: last.text + text, marks: last.marks };
  else runs.push({ text, marks });
}

/** The XML has more characters than any value may have. */
export class XmlTooLong extends Error {}

/**
 * Writes nodes as XML, always in the same form. Throws XmlTooLong above the limit: marks are repeated for each run,
 * which can multiply the size of a document.
 */
export function writeXml(nodes: readonly XmlNode[], limit: number): string {
  const parts: string[] = [];
  let left = limit;
  const write = (text: string) => {
    parts.push(text);
    left -= text.length;
    if (left < 0) throw new XmlTooLong();
  };
  const writeStart = ({ name, attributes }: Named) => {
    write(`<${encodeName(name)}`);
    for (const [key, value] of attributes) write(` ${encodeName(key)}="${escapeAttribute(value)}"`);
    write('>');
  };
  const writeEnd = ({ name }: Named) => write(`</${encodeName(name)}>`);
  const writeRun = ({ text, marks }: Run) => {
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

/** Returns whether a span is written without an element around it. Two texts in a row would read as one. */
function isBareText({ shape, name, attributes, text }: SpanNode, isAfterText: boolean): boolean {
  if (text === '') return false;
  return shape === 'loose' || (name === 'text' && attributes.length === 0 && !isAfterText);
}
