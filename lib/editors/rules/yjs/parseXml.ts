import { SaxesParser } from 'saxes';
import { decodeName } from './xmlEscapes.ts';
import { addRun, type Attribute, type ListKind, type Named, type TextRun, type XmlNode } from './xmlNodes.ts';
import type { Vocabulary } from './xmlVocabulary.ts';

interface ParsedElement extends Named {
  readonly children: ParsedNode[];
}
type ParsedNode = string | ParsedElement;

interface XmlLimits {
  readonly depth: number;
  readonly parts: number;
}

const DECLARATION = /^\ufeff?<\?xml(\s+version\s*=\s*(?:"1\.\d+"|'1\.\d+')[^<>?]*\?>)/;

class XmlFault extends Error {}

/** Returns why a text is rejected. DTDs are rejected, and all entities except the five that XML itself defines. */
export function findXmlFault(text: string, limits: XmlLimits): string | undefined {
  try {
    parseElements(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof XmlFault) return error.message;
    throw error;
  }
}

/**
 * `findXmlFault` must have accepted the text. Passes processing instructions to `vocabulary`. The nodes contain no XML
 * declaration, comments, processing instructions or indentation.
 */
export function parseXml(text: string, kind: ListKind, vocabulary: Vocabulary): XmlNode[] {
  const parsed = parseElements(text, noLimits, vocabulary);
  return kind === 'elements' ? elementNodesOf(parsed, vocabulary) : spanNodesOf(parsed, vocabulary);
}

const noLimits: XmlLimits = { depth: Infinity, parts: Infinity };

function parseElements(text: string, limits: XmlLimits, vocabulary?: Vocabulary): ParsedNode[] {
  const parser = new SaxesParser({ fragment: true, position: true });
  const roots: ParsedNode[] = [];
  const open: ParsedElement[] = [];
  let parts = 0;
  const rejectMalformed = (fault: string) => {
    throw new XmlFault(`Data must be well-formed XML: line ${parser.line}, column ${parser.column}: ${fault}`);
  };
  const addText = (added: string) => {
    if (added === '') return;
    const siblings = open.at(-1)?.children ?? roots;
    const last = siblings.at(-1);
    if (typeof last === 'string') siblings[siblings.length - 1] = last + added;
    else siblings.push(added);
  };
  parser.on('error', ({ message }) => rejectMalformed(message.replace(/^\d+:\d+: /, '')));
  parser.on('doctype', () => rejectMalformed('a document type is not allowed.'));
  parser.on('processinginstruction', ({ target, body }) => vocabulary?.declare(target, body));
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= limits.depth) throw new XmlFault(`Data must not be nested deeper than ${limits.depth} levels.`);
    const decoded = Object.entries(attributes as Record<string, string>).map(([key, value]): Attribute => [
      decodeName(key),
      value,
    ]);
    parts += 1 + decoded.length;
    if (parts > limits.parts)
      throw new XmlFault(`Data must not have more than ${limits.parts} elements and attributes in all.`);
    const element = { name: decodeName(name), attributes: decoded, children: [] };
    (open.at(-1)?.children ?? roots).push(element);
    open.push(element);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  // The parser refuses a declaration without a root element. Apart from a byte order mark, the replacement has the same
  // length, so positions stay right.
  parser.write(text.replace(DECLARATION, '<?dec$1')).close();
  return roots;
}

function elementNodesOf(parsed: readonly ParsedNode[], vocabulary: Vocabulary): XmlNode[] {
  const nodes: XmlNode[] = [];
  let runs: TextRun[] = [];
  const endText = () => {
    if (runs.length > 0) nodes.push({ shape: 'text', runs });
    runs = [];
  };
  const parts = parsed.map((node) => runsOf(node, [], vocabulary) ?? (node as ParsedElement));
  const isLayout = (part: (typeof parts)[number]) =>
    !Array.isArray(part) || part.every(({ text, marks }) => marks.length === 0 && isLayoutText(text));
  const isIndented = parts.some((part) => !Array.isArray(part)) && parts.every(isLayout);
  for (const part of parts) {
    if (!Array.isArray(part)) {
      endText();
      nodes.push({ ...part, shape: 'element', children: elementNodesOf(part.children, vocabulary) });
    } else if (!isIndented) for (const run of part) addRun(runs, run);
  }
  endText();
  return nodes;
}

/** Only blanks, and at least one line break. One regular expression for both would take quadratic time. */
export function isLayoutText(text: string): boolean {
  return /^[ \t\r\n]*$/.test(text) && text.includes('\n');
}

function runsOf(node: ParsedNode, outer: readonly Named[], vocabulary: Vocabulary): TextRun[] | undefined {
  if (typeof node === 'string') return [{ text: node, marks: outer }];
  const { name, attributes, children } = node;
  if (!vocabulary.isMark(name) || outer.some((mark) => mark.name === name) || children.length === 0) return undefined;
  const marks = [...outer, { name, attributes }].sort((a, b) => (a.name < b.name ? -1 : 1));
  const runs: TextRun[] = [];
  for (const child of children) {
    const inner = runsOf(child, marks, vocabulary);
    if (!inner) return undefined;
    runs.push(...inner);
  }
  return runs;
}

function spanNodesOf(parsed: readonly ParsedNode[], vocabulary: Vocabulary): XmlNode[] {
  const texts = parsed.filter((node) => typeof node === 'string');
  const isIndented = texts.length < parsed.length && texts.every(isLayoutText);
  return parsed.flatMap((node): XmlNode[] => {
    if (typeof node === 'string')
      return isIndented ? [] : [{ shape: 'span', name: 'text', attributes: [], text: node }];
    const { name, attributes, children } = node;
    if (vocabulary.isSpan(name) && children.every((child) => typeof child === 'string'))
      return [{ shape: 'span', name, attributes, text: children.join('') }];
    if (vocabulary.isDecorator(name))
      return [{ shape: 'element', name, attributes, children: elementNodesOf(children, vocabulary) }];
    return [{ shape: 'block', name, attributes, children: spanNodesOf(children, vocabulary) }];
  });
}
