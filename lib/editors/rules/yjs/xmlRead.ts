import * as Y from 'yjs';
import { contentOf, entriesOf, itemsOf, type Shared } from './types.ts';
import {
  append,
  type Attribute,
  attributeText,
  blockDefaults,
  type ElementNode,
  keyOf,
  type ListKind,
  type Mark,
  type Run,
  type SpanNode,
  type TextNode,
  type Vocabulary,
  type XmlNode,
} from './xmlNodes.ts';
import { knownToXml } from './xmlText.ts';

/** A node of the document: where it is in its list, as Yjs counts, and the types that hold it. */
export type StoredNode = XmlNode & {
  readonly at: number;
  readonly length: number;
  readonly types: readonly Shared[];
};

/** How the nodes under a root are kept. Lexical's own name for its root, `root`, decides when it is empty. */
export function kindOf(root: Shared | undefined, contentKey: string): ListKind {
  const items = root ? [...itemsOf(root)] : [];
  if (items.length === 0) return contentKey === 'root' ? 'spans' : 'elements';
  return items.some(isOfBlock) ? 'spans' : 'elements';
}

function isOfBlock({ content }: Y.Item): boolean {
  if (content instanceof Y.ContentString || content instanceof Y.ContentEmbed) return true;
  if (!(content instanceof Y.ContentType)) return false;
  const { type } = content;
  return (
    type.constructor === Y.Map ||
    (isXml(type) &&
      typeOf(type as Shared) !== undefined &&
      (type instanceof Y.XmlText || type.nodeName === 'UNDEFINED'))
  );
}

/** The nodes of a place. */
export function readNodes(list: Shared, kind: ListKind): StoredNode[] {
  return kind === 'elements' ? readElements(list) : readSpans(list);
}

function readElements(list: Shared): StoredNode[] {
  return readEach(list, ({ type, scope, nodes, last }) => {
    if (!(type instanceof Y.XmlText) || isBlock(type as Shared)) return false;
    const runs = readRuns(type as Shared);
    // Texts side by side, as concurrent editing makes them, are one to every reader; an empty one is none.
    if (last?.shape === 'text')
      nodes[nodes.length - 1] = {
        ...last,
        runs: joinedRuns(last.runs, runs),
        length: scope.at + scope.length - last.at,
        types: [...last.types, ...scope.types],
      };
    else if (runs.length > 0) nodes.push({ shape: 'text', runs, ...scope } satisfies TextNode & typeof scope);
    return true;
  });
}

function readSpans(list: Shared): StoredNode[] {
  return readEach(list, ({ content, type, scope, nodes, last }) => {
    if (content instanceof Y.ContentString) {
      if (last && 'text' in last)
        nodes[nodes.length - 1] = {
          ...last,
          text: last.text + knownToXml(content.str),
          length: scope.at + scope.length - last.at,
        };
      else
        nodes.push({
          shape: 'loose',
          name: 'text',
          attributes: [],
          text: knownToXml(content.str),
          ...scope,
        } satisfies SpanNode & typeof scope);
      return true;
    }
    if (type?.constructor !== Y.Map) return false;
    nodes.push({
      shape: 'span',
      name: typeOf(type) ?? 'text',
      attributes: attributesOf(type, true),
      text: '',
      ...scope,
    } satisfies SpanNode & typeof scope);
    return true;
  });
}

/** What a list holds at one place, and the nodes before it. */
interface Holding {
  readonly content: Y.Item['content'];
  /** The type that it is, if it is one. */
  readonly type: Shared | undefined;
  readonly scope: Pick<StoredNode, 'at' | 'length' | 'types'>;
  readonly nodes: StoredNode[];
  readonly last: StoredNode | undefined;
}

/** The nodes of a list. `readOwn` reads what only lists of one kind have, and says whether it was that; blocks and elements are the same in both. */
function readEach(list: Shared, readOwn: (holding: Holding) => boolean): StoredNode[] {
  const nodes: StoredNode[] = [];
  let at = 0;
  for (const item of itemsOf(list)) {
    if (!item.countable) continue;
    const { content } = item;
    const type = content instanceof Y.ContentType ? (content.type as Shared) : undefined;
    const scope = { at, length: item.length, types: type ? [type] : [] };
    at += item.length;
    if (readOwn({ content, type, scope, nodes, last: nodes.at(-1) })) continue;
    if (type instanceof Y.XmlText) nodes.push({ ...readBlock(type as Shared), ...scope });
    else if (type instanceof Y.XmlElement) nodes.push({ ...readElement(type), ...scope });
    else nodes.push({ ...readOpaque(item), ...scope });
  }
  return nodes;
}

/** The type that Lexical gives a node. */
function typeOf(type: Shared): string | undefined {
  const item = type._map.get('__type');
  const value = item && !item.deleted ? contentOf(item) : undefined;
  return typeof value === 'string' ? value : undefined;
}

function isXml(type: unknown): type is Y.XmlText | Y.XmlElement {
  return type instanceof Y.XmlText || type instanceof Y.XmlElement;
}

/** Whether a text is one of Lexical's blocks, and no text of ProseMirror's. */
function isBlock(text: Shared): boolean {
  if (typeOf(text) !== undefined) return true;
  for (const { content } of itemsOf(text))
    if (!(content instanceof Y.ContentString || content instanceof Y.ContentFormat)) return true;
  return false;
}

function readElement(element: Y.XmlElement): ElementNode {
  const type = element as Shared;
  const isDecorator = element.nodeName === 'UNDEFINED' && typeOf(type) !== undefined;
  return {
    shape: 'element',
    name: isDecorator ? typeOf(type)! : element.nodeName,
    attributes: attributesOf(type, isDecorator),
    children: readElements(type),
  };
}

function readBlock(text: Shared): ElementNode {
  return {
    shape: 'block',
    name: typeOf(text) ?? 'block',
    attributes: attributesOf(text, true),
    children: readSpans(text),
  };
}

function readOpaque({ content }: Y.Item): ElementNode {
  const value = content instanceof Y.ContentType ? content.type.toJSON() : content.getContent();
  return { shape: 'opaque', name: 'embed', attributes: [['value', attributeText(value) ?? '']], children: [] };
}

/** The attributes that are shown, in the order in which they were written. Types within (Lexical's states and slots) are not. */
function attributesOf(type: Shared, isLexical: boolean): Attribute[] {
  return entriesOf(type).flatMap(([name, item]): Attribute[] => {
    const value = contentOf(item);
    if (
      value instanceof Y.AbstractType ||
      (isLexical && (name === '__type' || (blockDefaults.has(name) && blockDefaults.get(name) === value)))
    )
      return [];
    const text = attributeText(value);
    return text === undefined ? [] : [[name, text]];
  });
}

/** The formatted characters of a text. */
function readRuns(text: Shared): Run[] {
  const runs: Run[] = [];
  const marks = new Map<string, Mark>();
  for (const { content } of itemsOf(text)) {
    if (content instanceof Y.ContentString)
      append(runs, {
        text: knownToXml(content.str),
        marks: [...marks.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      });
    if (!(content instanceof Y.ContentFormat)) continue;
    if (content.value === null) marks.delete(content.key);
    else marks.set(content.key, { name: content.key, attributes: markAttributes(content.value) });
  }
  return runs;
}

/** ProseMirror's marks are objects of attributes; others have plain values, of which `true` needs no words. */
function markAttributes(value: unknown): Attribute[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return value === true ? [] : [['value', attributeText(value) ?? '']];
  return Object.entries(value).flatMap(([name, each]): Attribute[] => {
    const text = attributeText(each);
    return text === undefined ? [] : [[name, text]];
  });
}

function joinedRuns(first: readonly Run[], second: readonly Run[]): Run[] {
  const runs = [...first];
  for (const each of second) append(runs, each);
  return runs;
}

/** Formatting that editors of this ecosystem know by these names; anything else is formatting where the document uses it so. */
const commonMarks = [
  'bold',
  'strong',
  'italic',
  'em',
  'underline',
  'strike',
  'strikethrough',
  'code',
  'link',
  'highlight',
  'textStyle',
  'textColor',
  'backgroundColor',
  'subscript',
  'superscript',
  'comment',
  'insertion',
  'deletion',
];
const commonSpans = ['text', 'linebreak', 'tab', 'hashtag', 'code-highlight', 'mention', 'emoji', 'keyword'];
const commonDecorators = ['horizontalrule'];
/** Attributes that the same editors keep as something else than text. */
const commonKinds: Readonly<Record<string, Kind>> = {
  level: 'number',
  start: 'number',
  order: 'number',
  colspan: 'number',
  rowspan: 'number',
  checked: 'boolean',
  colwidth: 'object',
};

type Kind = 'string' | 'number' | 'boolean' | 'object';

/** What the document's nodes tell of the names in them, so that XML is understood as it was written. */
export class Usage implements Vocabulary {
  readonly #marks = new Set<string>();
  readonly #elements = new Set<string>();
  readonly #blocks = new Set<string>();
  readonly #spans = new Set(commonSpans);
  readonly #decorators = new Set(commonDecorators);
  readonly #kinds = new Map<string, Kind | 'several'>();
  readonly #markValues = new Map<string, unknown>();

  constructor(nodes: readonly StoredNode[], kind: ListKind) {
    this.#learn(nodes, kind);
  }

  isMark(name: string): boolean {
    if (this.#elements.has(name)) return false;
    return this.#marks.has(name) || commonMarks.includes(name.replace(/--[a-zA-Z0-9+/=]{8}$/, ''));
  }

  isSpan(name: string): boolean {
    return this.#spans.has(name);
  }

  isDecorator(name: string): boolean {
    return !this.#blocks.has(name) && this.#decorators.has(name);
  }

  /** The value that a mark stands for: the document's own, else the object of its attributes. */
  markValue(mark: Mark): unknown {
    const key = keyOf(mark);
    if (this.#markValues.has(key)) return this.#markValues.get(key);
    return Object.fromEntries(
      mark.attributes.map(([name, text]) => [name, this.attributeValue(mark.name, name, text, undefined, false)]),
    );
  }

  /** The value that the text of an attribute stands for: of the kind that it had, else that others of the name have. */
  attributeValue(owner: string, name: string, text: string, before: unknown, isLexical: boolean): unknown {
    const known = before === null || before === undefined ? this.#kinds.get(placeOf(owner, name)) : kindOfValue(before);
    const kind = known ?? commonKinds[name];
    if (kind === 'string' || !(kind || isLexical)) return text;
    try {
      const value: unknown = JSON.parse(text);
      const fits =
        kind && kind !== 'several' ? kindOfValue(value) === kind : typeof value !== 'object' || value === null;
      return fits && typeof value !== 'string' && attributeText(value) === text ? value : text;
    } catch {
      return text;
    }
  }

  #learn(nodes: readonly StoredNode[], kind: ListKind): void {
    for (const node of nodes) {
      if (node.shape === 'text') {
        for (const type of node.types) this.#learnMarks(type);
        continue;
      }
      if (node.types[0]) this.#learnAttributes(node.name, node.types[0]);
      if (node.shape === 'span') this.#spans.add(node.name);
      if (node.shape === 'block') this.#blocks.add(node.name);
      if (node.shape === 'element') (kind === 'elements' ? this.#elements : this.#decorators).add(node.name);
      if ('children' in node) this.#learn(node.children as StoredNode[], node.shape === 'block' ? 'spans' : 'elements');
    }
  }

  #learnMarks(text: Shared): void {
    for (const { content } of itemsOf(text)) {
      if (!(content instanceof Y.ContentFormat) || content.value === null) continue;
      const value: unknown = content.value;
      this.#marks.add(content.key);
      this.#markValues.set(keyOf({ name: content.key, attributes: markAttributes(value) }), value);
      if (typeof value === 'object')
        for (const [name, each] of Object.entries(value as object)) this.#learnKind(content.key, name, each);
    }
  }

  #learnAttributes(owner: string, type: Shared): void {
    for (const [name, item] of entriesOf(type)) this.#learnKind(owner, name, contentOf(item));
  }

  #learnKind(owner: string, name: string, value: unknown): void {
    if (value === null || value === undefined || value instanceof Y.AbstractType) return;
    const scope = placeOf(owner, name);
    const kind = kindOfValue(value);
    this.#kinds.set(scope, (this.#kinds.get(scope) ?? kind) === kind ? kind : 'several');
  }
}

function placeOf(owner: string, name: string): string {
  return JSON.stringify([owner, name]);
}

function kindOfValue(value: unknown): Kind {
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
    ? (typeof value as Kind)
    : 'object';
}
