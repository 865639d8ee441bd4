import * as Y from 'yjs';
import { isObject } from '../../../shared/collections.ts';
import { parseJson } from '../../../shared/parseJson.ts';
import { markAttributes, type StoredNode } from './readXmlNodes.ts';
import { entriesOf, itemsOf, type Shared, valueOf } from './sharedTypes.ts';
import { attributeText, keyOf, type ListKind, type Named } from './xmlNodes.ts';

/** Names that common editors use for marks. Other names are marks only if the document uses them as marks. */
const commonMarks: ReadonlySet<string> = new Set([
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
]);
const commonSpans = ['text', 'linebreak', 'tab', 'hashtag', 'code-highlight', 'mention', 'emoji', 'keyword'];
const commonDecorators = ['horizontalrule'];
const commonKinds: Readonly<Record<string, Kind>> = {
  level: 'number',
  start: 'number',
  order: 'number',
  colspan: 'number',
  rowspan: 'number',
  checked: 'boolean',
  colwidth: 'object',
};

/** A processing instruction with this target declares kinds. Customers copy it from one editor to another. */
const KINDS_TARGET = 'attribute-types';
const declaredKinds: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'object', 'mixed']);

type Kind = 'string' | 'number' | 'boolean' | 'object';

/**
 * Which names are marks, spans or elements, and which kind of value each attribute has. The parser needs this to store
 * nodes as the editor does.
 */
export class Vocabulary {
  readonly #marks = new Set<string>();
  readonly #elements = new Set<string>();
  readonly #blocks = new Set<string>();
  readonly #spans = new Set(commonSpans);
  readonly #decorators = new Set(commonDecorators);
  readonly #kinds = new Map<string, Kind | 'mixed'>();
  readonly #markValues = new Map<string, unknown>();
  readonly #declared = new Map<string, string>();
  /** By owner: attributes whose kind a document without this vocabulary would not know. */
  readonly #unusual = new Map<string, Set<string>>();

  constructor(nodes: readonly StoredNode[], kind: ListKind) {
    this.#addNodes(nodes, kind);
  }

  /** Has the kinds of attributes that a new document would store as another kind. */
  get declaration(): string {
    if (this.#unusual.size === 0) return '';
    const kinds = [...this.#unusual].map(([owner, names]) => [
      owner,
      Object.fromEntries([...names].map((name) => [name, this.#kinds.get(attributeKey(owner, name))])),
    ]);
    // An instruction ends at the first `?>`, and XML forbids the other two. JSON has these characters only in texts.
    const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const json = JSON.stringify(Object.fromEntries(kinds)).replace(/[>\uFFFE\uFFFF]/g, escape);
    return `<?${KINDS_TARGET} ${json}?>`;
  }

  declare(target: string, body: string): void {
    if (target !== KINDS_TARGET) return;
    for (const [owner, kinds] of entriesOfObject(parseJson(body)))
      for (const [name, kind] of entriesOfObject(kinds))
        if (typeof kind === 'string' && declaredKinds.has(kind)) this.#declared.set(attributeKey(owner, name), kind);
  }

  isMark(name: string): boolean {
    if (this.#elements.has(name)) return false;
    // y-prosemirror appends a hash to the names of overlapping marks.
    return this.#marks.has(name) || commonMarks.has(name.replace(/--[a-zA-Z0-9+/=]{8}$/, ''));
  }

  isSpan(name: string): boolean {
    return this.#spans.has(name);
  }

  isDecorator(name: string): boolean {
    return !this.#blocks.has(name) && this.#decorators.has(name);
  }

  markValue(mark: Named): unknown {
    const key = keyOf(mark);
    if (this.#markValues.has(key)) return this.#markValues.get(key);
    return Object.fromEntries(
      mark.attributes.map(([name, text]) => [name, this.attributeValue(mark.name, name, text, undefined, false)]),
    );
  }

  /**
   * Returns the value of the declared kind, otherwise of the kind of the previous value (`before`), otherwise of the
   * usual kind of this attribute.
   */
  attributeValue(owner: string, name: string, text: string, before: unknown, isLexical: boolean): unknown {
    const key = attributeKey(owner, name);
    const declared = this.#declared.get(key) as Kind | 'mixed' | undefined;
    return valueOfKind(text, declared ?? kindOfValue(before) ?? this.#kinds.get(key) ?? commonKinds[name], isLexical);
  }

  #addNodes(nodes: readonly StoredNode[], kind: ListKind): void {
    for (const node of nodes) {
      if (node.shape === 'text') {
        for (const type of node.types) this.#addMarks(type);
        continue;
      }
      for (const [name, item] of node.types[0] ? entriesOf(node.types[0]) : [])
        this.#addKind(node.name, name, valueOf(item), kind === 'spans');
      if (node.shape === 'span') this.#spans.add(node.name);
      if (node.shape === 'block') this.#blocks.add(node.name);
      if (node.shape === 'element') (kind === 'elements' ? this.#elements : this.#decorators).add(node.name);
      if ('children' in node)
        this.#addNodes(node.children as StoredNode[], node.shape === 'block' ? 'spans' : 'elements');
    }
  }

  #addMarks(text: Shared): void {
    for (const { content } of itemsOf(text)) {
      if (!(content instanceof Y.ContentFormat)) continue;
      const { key, value } = content as { key: string; value: unknown };
      if (value === null) continue;
      this.#marks.add(key);
      this.#markValues.set(keyOf({ name: key, attributes: markAttributes(value) }), value);
      if (typeof value === 'object')
        for (const [name, part] of Object.entries(value)) this.#addKind(key, name, part, false);
    }
  }

  #addKind(owner: string, name: string, value: unknown, isLexical: boolean): void {
    const kind = value instanceof Y.AbstractType ? undefined : kindOfValue(value);
    if (!kind) return;
    const key = attributeKey(owner, name);
    this.#kinds.set(key, (this.#kinds.get(key) ?? kind) === kind ? kind : 'mixed');
    if (kindOfValue(valueOfKind(attributeText(value) ?? '', commonKinds[name], isLexical)) === kind) return;
    const names = this.#unusual.get(owner) ?? new Set();
    this.#unusual.set(owner, names.add(name));
  }
}

/** Returns the text if it does not fit the kind. Without a kind, Lexical stores numbers and booleans. */
function valueOfKind(text: string, kind: Kind | 'mixed' | undefined, isLexical: boolean): unknown {
  if (kind === 'string' || !(kind || isLexical)) return text;
  const value = parseJson(text);
  const valueKind = kindOfValue(value);
  const isFitting = kind && kind !== 'mixed' ? valueKind === kind : valueKind !== 'object';
  return isFitting && valueKind !== 'string' && attributeText(value) === text ? value : text;
}

function entriesOfObject(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function attributeKey(owner: string, name: string): string {
  return JSON.stringify([owner, name]);
}

function kindOfValue(value: unknown): Kind | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
    ? (typeof value as Kind)
    : 'object';
}
