import * as Y from 'yjs';
import { isObject } from '../../../shared/collections.ts';
import { entriesOf, itemsOf, type Shared, valueOf } from './sharedTypes.ts';
import { replaceDisallowed } from './xmlEscapes.ts';
import {
  addRun,
  type Attribute,
  attributeText,
  blockDefaults,
  type ElementNode,
  type ListKind,
  type Named,
  type TextRun,
  type XmlNode,
} from './xmlNodes.ts';

/** Index and length in the units of Yjs. */
interface NodePosition {
  readonly at: number;
  readonly length: number;
  readonly types: readonly Shared[];
}

export type StoredNode = XmlNode & NodePosition;

/**
 * Returns how the nodes are stored: as spans by Lexical, as elements by ProseMirror. If the root type is empty, the
 * name `root` means Lexical.
 */
export function kindOf(root: Shared | undefined, contentKey: string): ListKind {
  const items = root ? [...itemsOf(root)] : [];
  const isSpans = items.length === 0 ? contentKey === 'root' : items.some(isOfBlock);
  return isSpans ? 'spans' : 'elements';
}

function isOfBlock({ content }: Y.Item): boolean {
  if (content instanceof Y.ContentString || content instanceof Y.ContentEmbed) return true;
  if (!(content instanceof Y.ContentType)) return false;
  const type = content.type as Shared;
  if (type.constructor === Y.Map) return true;
  if (lexicalTypeOf(type) === undefined) return false;
  return type instanceof Y.XmlText || (type instanceof Y.XmlElement && type.nodeName === 'UNDEFINED');
}

export function readNodes(list: Shared, kind: ListKind): StoredNode[] {
  const nodes: StoredNode[] = [];
  const addNode = kind === 'elements' ? addTextNode : addSpanNode;
  let at = 0;
  for (const item of itemsOf(list)) {
    if (!item.countable) continue;
    const type = item.content instanceof Y.ContentType ? (item.content.type as Shared) : undefined;
    const position = { at, length: item.length, types: type ? [type] : [] };
    at += item.length;
    if (!addNode(nodes, item, type, position)) nodes.push({ ...readNode(item, type), ...position });
  }
  return nodes;
}

function addTextNode(nodes: StoredNode[], _item: Y.Item, type: Shared | undefined, position: NodePosition): boolean {
  if (!(type instanceof Y.XmlText) || isBlock(type as Shared)) return false;
  const runs = readRuns(type as Shared);
  const last = nodes.at(-1);
  // Concurrent edits can leave empty texts, and several texts in a row, which are read as one.
  if (last?.shape === 'text') {
    const joined = [...last.runs];
    for (const run of runs) addRun(joined, run);
    nodes[nodes.length - 1] = { ...extend(last, position), runs: joined, types: [...last.types, ...position.types] };
  } else if (runs.length > 0) nodes.push({ shape: 'text', runs, ...position });
  return true;
}

function addSpanNode(
  nodes: StoredNode[],
  { content }: Y.Item,
  type: Shared | undefined,
  position: NodePosition,
): boolean {
  if (content instanceof Y.ContentString) {
    const text = replaceDisallowed(content.str);
    const last = nodes.at(-1);
    if (last && 'text' in last) nodes[nodes.length - 1] = { ...extend(last, position), text: last.text + text };
    else nodes.push({ shape: 'loose', name: 'text', attributes: [], text, ...position });
    return true;
  }
  if (type?.constructor !== Y.Map) return false;
  const name = lexicalTypeOf(type) ?? 'text';
  nodes.push({ shape: 'span', name, attributes: readAttributes(type, true), text: '', ...position });
  return true;
}

function extend<T extends NodePosition>(node: T, { at, length }: NodePosition): T {
  return { ...node, length: at + length - node.at };
}

function readNode({ content }: Y.Item, type: Shared | undefined): ElementNode {
  const lexicalType = type && lexicalTypeOf(type);
  if (type instanceof Y.XmlText) {
    const attributes = readAttributes(type as Shared, true);
    return { shape: 'block', name: lexicalType ?? 'block', attributes, children: readNodes(type as Shared, 'spans') };
  }
  if (type instanceof Y.XmlElement) {
    const { nodeName } = type;
    const decorator = nodeName === 'UNDEFINED' ? lexicalType : undefined;
    const attributes = readAttributes(type as Shared, decorator !== undefined);
    return {
      shape: 'element',
      name: decorator ?? nodeName,
      attributes,
      children: readNodes(type as Shared, 'elements'),
    };
  }
  const value: unknown = type ? type.toJSON() : content.getContent();
  return { shape: 'opaque', name: 'embed', attributes: [['value', attributeText(value) ?? '']], children: [] };
}

function lexicalTypeOf(type: Shared): string | undefined {
  const value = valueOf(type._map.get('__type'));
  return typeof value === 'string' ? value : undefined;
}

function isBlock(text: Shared): boolean {
  return (
    lexicalTypeOf(text) !== undefined ||
    [...itemsOf(text)].some(
      ({ content }) => !(content instanceof Y.ContentString || content instanceof Y.ContentFormat),
    )
  );
}

/** For Lexical, leaves out `__type` and default values. */
function readAttributes(type: Shared, isLexical: boolean): Attribute[] {
  const isHidden = (name: string, value: unknown) =>
    value instanceof Y.AbstractType ||
    (isLexical && (name === '__type' || (blockDefaults.has(name) && blockDefaults.get(name) === value)));
  return textAttributes(
    entriesOf(type)
      .map(([name, item]) => [name, valueOf(item)] as const)
      .filter(([name, value]) => !isHidden(name, value)),
  );
}

function textAttributes(entries: readonly (readonly [string, unknown])[]): Attribute[] {
  return entries.flatMap(([name, value]): Attribute[] => {
    const text = attributeText(value);
    return text === undefined ? [] : [[name, text]];
  });
}

function readRuns(text: Shared): TextRun[] {
  const runs: TextRun[] = [];
  const marks = new Map<string, Named>();
  for (const { content } of itemsOf(text)) {
    if (content instanceof Y.ContentString) {
      const sorted = [...marks.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
      addRun(runs, { text: replaceDisallowed(content.str), marks: sorted });
    }
    if (!(content instanceof Y.ContentFormat)) continue;
    const { key, value } = content as { key: string; value: unknown };
    if (value === null) marks.delete(key);
    else marks.set(key, { name: key, attributes: markAttributes(value) });
  }
  return runs;
}

/** An object gives its entries, and `true` gives none. Any other value gives one attribute `value`. */
export function markAttributes(value: unknown): Attribute[] {
  if (value === true) return [];
  if (isObject(value)) return textAttributes(Object.entries(value));
  return [['value', attributeText(value) ?? '']];
}
