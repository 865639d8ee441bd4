import {
  decodeName as decoded,
  encodeName,
  escapeAttribute,
  escapeText,
  knownToXml,
  type WireElement,
  type WireNode,
} from './xmlText.ts';

/**
 * XML as the editors see it. ProseMirror and TipTap keep elements (`element`) and formatted texts (`text`), whose marks the wire
 * shows as elements around the text. Lexical keeps each block as a text that holds its children (`block`), and each text as a map
 * of properties that the characters follow (`span`).
 */
export type XmlNode = TextNode | ElementNode | SpanNode;

export interface TextNode {
  readonly shape: 'text';
  readonly runs: readonly Run[];
}
/** `opaque` is what has no place in XML; it is shown, and kept until something else comes in its place. */
export interface ElementNode {
  readonly shape: 'element' | 'block' | 'opaque';
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly children: readonly XmlNode[];
}
/** Characters in a block; those without a map in front (`loose`) are the rest of a text that another client took away. */
export interface SpanNode {
  readonly shape: 'span' | 'loose';
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly text: string;
}
export type Attribute = readonly [name: string, text: string];
export interface Run {
  readonly text: string;
  /** Sorted by name. */
  readonly marks: readonly Mark[];
}
export interface Mark {
  readonly name: string;
  readonly attributes: readonly Attribute[];
}

/** How the nodes of a place are kept: as ProseMirror does, or as Lexical does within its blocks. */
export type ListKind = 'elements' | 'spans';

/** What the document tells about names: who is formatting, and who is which kind of node to Lexical. */
export interface Vocabulary {
  isMark(name: string): boolean;
  isSpan(name: string): boolean;
  isDecorator(name: string): boolean;
}

/** What attributes say to Lexical when they are not there; they are not shown then. */
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

/** The text of an attribute: strings as they are, as far as XML knows their characters, and anything else as JSON; undefined of what is not shown. */
export function attributeText(value: unknown): string | undefined {
  if (typeof value === 'string') return knownToXml(value);
  return value === null || value === undefined ? undefined : JSON.stringify(value);
}

/** The same attributes or marks have the same key, whatever their order. */
export function keyOf({
  name,
  attributes,
}: {
  readonly name: string;
  readonly attributes: readonly Attribute[];
}): string {
  return JSON.stringify([name, ...attributes.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

export function marksKeyOf(marks: readonly Mark[]): string {
  return marks.map(keyOf).join();
}

/** More characters than any value may have. */
export class XmlTooLong extends Error {}

/** Nodes as XML, one way for each. XmlTooLong above the limit: formatting is repeated for each run, which can multiply a document. */
export function writeXml(nodes: readonly XmlNode[], limit: number): string {
  const parts: string[] = [];
  let left = limit;
  const put = (text: string) => {
    parts.push(text);
    if ((left -= text.length) < 0) throw new XmlTooLong();
  };
  const tag = ({ name, attributes }: { readonly name: string; readonly attributes: readonly Attribute[] }) => {
    put(`<${encodeName(name)}`);
    for (const [key, value] of attributes) put(` ${encodeName(key)}="${escapeAttribute(value)}"`);
    put('>');
  };
  const write = (list: readonly XmlNode[]) => {
    let isAfterText = false;
    for (const node of list) {
      const isBare: boolean =
        'text' in node && node.text !== '' && (node.shape === 'loose' || (isPlain(node) && !isAfterText));
      if (node.shape === 'text') node.runs.forEach(writeRun);
      else if (isBare) put(escapeText((node as SpanNode).text));
      else {
        tag(node);
        if ('text' in node) put(escapeText(node.text));
        else write(node.children);
        put(`</${encodeName(node.name)}>`);
      }
      isAfterText = isBare;
    }
  };
  const writeRun = ({ text, marks }: Run) => {
    marks.forEach(tag);
    put(escapeText(text));
    for (const { name } of marks.toReversed()) put(`</${encodeName(name)}>`);
  };
  write(nodes);
  return parts.join('');
}

function isPlain({ name, attributes }: SpanNode): boolean {
  return name === 'text' && attributes.length === 0;
}

/** What XML says as nodes of a place. Line breaks and blanks between elements, which only make XML readable, are no texts. */
export function nodesOf(wire: readonly WireNode[], kind: ListKind, vocabulary: Vocabulary): XmlNode[] {
  return kind === 'elements' ? elementNodes(wire, vocabulary) : spanNodes(wire, vocabulary);
}

function elementNodes(wire: readonly WireNode[], vocabulary: Vocabulary): XmlNode[] {
  const nodes: XmlNode[] = [];
  let runs: Run[] = [];
  const endText = () => {
    if (runs.length > 0) nodes.push({ shape: 'text', runs });
    runs = [];
  };
  const parts = wire.map(
    (node) => (typeof node === 'string' ? [run(node, [])] : runsOf(node, [], vocabulary)) ?? (node as WireElement),
  );
  const isSpaced =
    parts.some((part) => !Array.isArray(part)) && parts.every((part) => !Array.isArray(part) || part.every(isLayout));
  for (const part of parts) {
    if (Array.isArray(part)) {
      if (!isSpaced) for (const each of part) append(runs, each);
    } else {
      endText();
      nodes.push({ shape: 'element', ...named(part), children: elementNodes(part.children, vocabulary) });
    }
  }
  endText();
  return nodes;
}

function run(text: string, marks: readonly Mark[]): Run {
  return { text, marks };
}

function isLayout({ text, marks }: Run): boolean {
  return marks.length === 0 && isLayoutText(text);
}

/** Whether a text consists of blanks and at least one line break. Takes linear time: one expression for both conditions would not. */
export function isLayoutText(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text) && text.includes('\n');
}

/** Adds a run, to the one before when it has the same marks. */
export function append(runs: Run[], added: Run): void {
  const last = runs.at(-1);
  if (last && marksKeyOf(last.marks) === marksKeyOf(added.marks))
    runs[runs.length - 1] = run(last.text + added.text, last.marks);
  else runs.push(added);
}

/** The formatted text that an element is, or undefined: formatting has a name that stands for it, and only text within. */
function runsOf(element: WireElement, around: readonly Mark[], vocabulary: Vocabulary): Run[] | undefined {
  const mark = named(element);
  if (!vocabulary.isMark(mark.name) || around.some(({ name }) => name === mark.name) || element.children.length === 0)
    return undefined;
  const marks = [...around, mark].sort((a, b) => (a.name < b.name ? -1 : 1));
  const runs: Run[] = [];
  for (const child of element.children) {
    const inner = typeof child === 'string' ? [run(child, marks)] : runsOf(child, marks, vocabulary);
    if (!inner) return undefined;
    runs.push(...inner);
  }
  return runs;
}

function spanNodes(wire: readonly WireNode[], vocabulary: Vocabulary): XmlNode[] {
  const isSpaced =
    wire.some((node) => typeof node !== 'string') &&
    wire.every((node) => typeof node !== 'string' || isLayout(run(node, [])));
  return wire.flatMap((node): XmlNode[] => {
    if (typeof node === 'string') return isSpaced ? [] : [{ shape: 'span', name: 'text', attributes: [], text: node }];
    const head = named(node);
    if (vocabulary.isSpan(head.name) && node.children.every((child) => typeof child === 'string'))
      return [{ shape: 'span', ...head, text: node.children.join('') }];
    if (vocabulary.isDecorator(head.name))
      return [{ shape: 'element', ...head, children: elementNodes(node.children, vocabulary) }];
    return [{ shape: 'block', ...head, children: spanNodes(node.children, vocabulary) }];
  });
}

function named({ name, attributes }: WireElement): { name: string; attributes: Attribute[] } {
  return { name: decoded(name), attributes: attributes.map(([key, value]) => [decoded(key), value]) };
}
