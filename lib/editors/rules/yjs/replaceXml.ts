import * as Y from 'yjs';
import { dict } from '../../../shared/collections.ts';
import { at } from './diff.ts';
import type { JsonTools } from './json.ts';
import { applyEdits, listEdits, memoize, sharedFeatures } from './listDiff.ts';
import { parseXml } from './parseXml.ts';
import { digestOf, readPlainXml, SPELLING_EDITS, spellingKey } from './readXml.ts';
import { kindOf, readNodes, type StoredNode } from './readXmlNodes.ts';
import { rootOf, type Shared, valueOf } from './sharedTypes.ts';
import { textEdits } from './textDiff.ts';
import {
  type Attribute,
  blockDefaults,
  type ElementNode,
  keyOf,
  marksKeyOf,
  type Named,
  type SpanNode,
  type TextNode,
  type TextRun,
  type XmlNode,
} from './xmlNodes.ts';
import { Vocabulary } from './xmlVocabulary.ts';

type NodeList = Y.XmlFragment | Y.XmlText;
type Attributed = Y.XmlElement | Y.XmlText | Y.Map<unknown>;

export function replaceXml(doc: Y.Doc, contentKey: string, target: string, tools: JsonTools): void {
  const stored = rootOf(doc, contentKey);
  const kind = kindOf(stored, contentKey);
  const before = stored ? readNodes(stored, kind) : [];
  const vocabulary = new Vocabulary(before, kind);
  const root = kind === 'elements' ? doc.getXmlFragment(contentKey) : doc.get(contentKey, Y.XmlText);
  new XmlReplacement(tools, vocabulary).replaceNodes(root, before, parseXml(target, kind, vocabulary));
  replaceSpelling(doc, contentKey, target, tools);
}

/** Stores how the XML was spelled, so that `readXml` returns exactly the same text. */
function replaceSpelling(doc: Y.Doc, contentKey: string, target: string, { writer }: JsonTools): void {
  const { plain, declaration } = readPlainXml(doc, contentKey, Infinity);
  const spelling = doc.getMap<unknown>(spellingKey(contentKey));
  if (declaration + plain === target) {
    spelling.delete(SPELLING_EDITS);
    return;
  }
  const edits = textEdits(plain, target).flatMap(({ index, remove, insert }) => [index, remove, insert]);
  writer.overwrite(spelling._map.get(SPELLING_EDITS), () => spelling.set(SPELLING_EDITS, [digestOf(plain), ...edits]));
}

const MAX_FEATURES = 100;

class XmlReplacement {
  readonly #tools: JsonTools;
  readonly #vocabulary: Vocabulary;

  constructor(tools: JsonTools, vocabulary: Vocabulary) {
    this.#tools = tools;
    this.#vocabulary = vocabulary;
  }

  replaceNodes(list: NodeList, before: readonly StoredNode[], after: readonly XmlNode[]): void {
    const last = before.at(-1);
    const end = last ? last.at + last.length : list.length;
    const startOf = (index: number) => before[index]?.at ?? end;
    const similarity = (index: number, from: number) => this.#similarity(at(before, index), at(after, from));
    applyEdits(listEdits(before.map(this.#numberOf), after.map(this.#numberOf), similarity), {
      remove: (index, count) => {
        const removed = at(before, index + count - 1);
        list.delete(startOf(index), removed.at + removed.length - startOf(index));
      },
      insert: (index, from, count) => this.#insert(list, startOf(index), after.slice(from, from + count)),
      change: (index, from) => this.#change(list, at(before, index), at(after, from)),
    });
  }

  readonly #numberOf: (node: XmlNode) => number = memoize((node) => {
    const { interner } = this.#tools;
    if (node.shape === 'text')
      return interner.numberOf(`text ${JSON.stringify(node.runs.map(({ text, marks }) => [text, marksKeyOf(marks)]))}`);
    const content = 'text' in node ? JSON.stringify(node.text) : node.children.map(this.#numberOf).join();
    return interner.numberOf(`${node.shape} ${keyOf(node)} ${content}`);
  });

  readonly #featuresOf: (node: XmlNode) => number[] = memoize((node) => {
    const attributes = 'attributes' in node ? node.attributes.map(([name, text]) => `${name}=${text}`) : [];
    const words = textOf(node, 1_000)
      .split(/\s+/, MAX_FEATURES)
      .map((word) => `word ${word}`);
    const children = 'children' in node ? node.children.slice(0, MAX_FEATURES).map(this.#numberOf) : [];
    return [...children, ...[...attributes, ...words].map((feature) => this.#tools.interner.numberOf(feature))];
  });

  #similarity(before: StoredNode, after: XmlNode): number {
    if (before.shape !== after.shape || before.shape === 'opaque' || before.shape === 'loose') return 0;
    if ('name' in before && 'name' in after && before.name !== after.name) return 0;
    const id = idOf(before);
    const hasSameId = id !== undefined && id === idOf(after);
    return sharedFeatures(this.#featuresOf(before), this.#featuresOf(after)) + (hasSameId ? 1 : 0);
  }

  #change(list: NodeList, before: StoredNode, after: XmlNode): void {
    if (before.shape === 'text' && after.shape === 'text') {
      this.#changeText(list as Y.XmlFragment, before, after);
      return;
    }
    const type = at(before.types, 0);
    if ('children' in before && 'children' in after) {
      this.#replaceAttributes(type, before, after.attributes, before.shape === 'block' || list instanceof Y.XmlText);
      this.replaceNodes(type as unknown as NodeList, before.children as StoredNode[], after.children);
    } else if ('text' in before && 'text' in after) {
      this.#replaceAttributes(type, before, after.attributes, true);
      const block = list as Y.XmlText;
      for (const { index, remove, insert } of textEdits(before.text, after.text).toReversed()) {
        block.delete(before.at + 1 + index, remove);
        block.insert(before.at + 1 + index, insert);
      }
    }
  }

  /** Deletes other texts that concurrent edits left directly after this one, because they were read as part of it. */
  #changeText(list: Y.XmlFragment, before: StoredNode & TextNode, after: TextNode): void {
    const text = at(before.types, 0) as unknown as Y.XmlText;
    let { runs } = before;
    if (before.types.length > 1) {
      list.delete(before.at + 1, before.length - 1);
      runs = cutRuns(runs, text.length);
    }
    text.applyDelta(deltaOf(runs, after.runs, this.#vocabulary));
  }

  #replaceAttributes(type: Shared, before: Named, after: readonly Attribute[], isLexical: boolean): void {
    const target = new Map(after);
    const current = new Map(before.attributes);
    const holder = type as unknown as Attributed;
    for (const name of current.keys()) {
      if (target.has(name)) continue;
      if (isLexical && blockDefaults.has(name)) this.#setAttribute(holder, name, blockDefaults.get(name));
      else if (holder instanceof Y.Map) holder.delete(name);
      else holder.removeAttribute(name);
    }
    for (const [name, text] of target) {
      if (current.get(name) === text) continue;
      const value = valueOf(type._map.get(name));
      this.#setAttribute(holder, name, this.#vocabulary.attributeValue(before.name, name, text, value, isLexical));
    }
  }

  #setAttribute(holder: Attributed, name: string, value: unknown): void {
    this.#tools.writer.overwrite(holder._map.get(name), () => {
      if (holder instanceof Y.Map) holder.set(name, value);
      else holder.setAttribute(name, value);
    });
  }

  #insert(list: NodeList, start: number, nodes: readonly XmlNode[]): void {
    if (list instanceof Y.XmlText) {
      let next = start;
      for (const node of nodes) next = this.#insertIntoBlock(list, next, node as ElementNode | SpanNode);
      return;
    }
    const types = nodes.map((node) =>
      node.shape === 'text' ? new Y.XmlText() : new Y.XmlElement((node as ElementNode).name),
    );
    list.insert(start, types);
    for (const [index, node] of nodes.entries()) {
      const type = at(types, index);
      if (node.shape === 'text') (type as Y.XmlText).applyDelta(deltaOf([], node.runs, this.#vocabulary));
      else this.#fill(type, node as ElementNode, false);
    }
  }

  #insertIntoBlock(block: Y.XmlText, start: number, node: ElementNode | SpanNode): number {
    const type = emptyTypeFor(node);
    block.insertEmbed(start, type);
    this.#setAttribute(type, '__type', node.name);
    if ('children' in node) {
      this.#fill(type as Y.XmlText | Y.XmlElement, node, true);
      return start + 1;
    }
    if (node.name === 'text')
      for (const property of ['__format', '__style', '__mode', '__detail'])
        this.#setAttribute(type, property, blockDefaults.get(property));
    this.#replaceAttributes(type as unknown as Shared, { name: node.name, attributes: [] }, node.attributes, true);
    block.insert(start + 1, node.text, {});
    return start + 1 + node.text.length;
  }

  #fill(type: Y.XmlText | Y.XmlElement, { name, attributes, children }: ElementNode, isLexical: boolean): void {
    this.#replaceAttributes(type as unknown as Shared, { name, attributes: [] }, attributes, isLexical);
    this.#insert(type, 0, children);
  }
}

function emptyTypeFor(node: ElementNode | SpanNode): Attributed {
  if ('text' in node) return new Y.Map();
  return node.shape === 'block' ? new Y.XmlText() : new Y.XmlElement();
}

function textOf(node: XmlNode, limit: number): string {
  if (node.shape === 'text') return charactersOf(node.runs).slice(0, limit);
  if ('text' in node) return node.text.slice(0, limit);
  let text = '';
  for (const child of node.children) if (text.length < limit) text += `${textOf(child, limit - text.length)} `;
  return text;
}

function charactersOf(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join('');
}

function idOf(node: XmlNode): string | undefined {
  if (!('attributes' in node)) return undefined;
  return node.attributes.find(([name]) => /^(__)?(id|blockId|data-id|key)$/.test(name))?.[1];
}

function cutRuns(runs: readonly TextRun[], length: number): TextRun[] {
  const firstRuns: TextRun[] = [];
  let remaining = length;
  for (const { text, marks } of runs) {
    if (remaining > 0) firstRuns.push({ text: text.slice(0, remaining), marks });
    remaining -= text.length;
  }
  return firstRuns;
}

interface DeltaStep {
  insert?: string;
  retain?: number;
  delete?: number;
  attributes?: Record<string, unknown>;
}

function deltaOf(before: readonly TextRun[], after: readonly TextRun[], vocabulary: Vocabulary): DeltaStep[] {
  const [old, target] = [new RunReader(before), new RunReader(after)];
  const delta: DeltaStep[] = [];
  const retain = (length: number) => {
    for (let remaining = length; remaining > 0;) {
      const taken = Math.min(remaining, old.remaining, target.remaining);
      const attributes = changedMarks(old.marks, target.marks, vocabulary);
      delta.push(attributes ? { retain: taken, attributes } : { retain: taken });
      old.skip(taken);
      target.skip(taken);
      remaining -= taken;
    }
  };
  let end = 0;
  const [oldText, newText] = [charactersOf(before), charactersOf(after)];
  for (const { index, remove, insert } of textEdits(oldText, newText)) {
    retain(index - end);
    if (remove > 0) delta.push({ delete: remove });
    old.skip(remove);
    end = index + remove;
    for (let start = 0; start < insert.length;) {
      const taken = Math.min(insert.length - start, target.remaining);
      const attributes = dict(target.marks.map((mark) => [mark.name, vocabulary.markValue(mark)]));
      delta.push({ insert: insert.slice(start, start + taken), attributes });
      target.skip(taken);
      start += taken;
    }
  }
  retain(oldText.length - end);
  return delta;
}

class RunReader {
  readonly #runs: TextRun[];
  #read = 0;

  constructor(runs: readonly TextRun[]) {
    this.#runs = [...runs].reverse();
  }

  get remaining(): number {
    return this.#current.text.length - this.#read;
  }

  get marks(): readonly Named[] {
    return this.#current.marks;
  }

  skip(length: number): void {
    for (let remaining = length; remaining > 0;) {
      const taken = Math.min(remaining, this.remaining);
      this.#read += taken;
      remaining -= taken;
      if (this.remaining > 0) continue;
      this.#runs.pop();
      this.#read = 0;
    }
  }

  get #current(): TextRun {
    return at(this.#runs, this.#runs.length - 1);
  }
}

/** A mark to set has its new value, a mark to remove has null. Undefined if none changes. */
function changedMarks(
  before: readonly Named[],
  after: readonly Named[],
  vocabulary: Vocabulary,
): Record<string, unknown> | undefined {
  const keys = new Set(before.map(keyOf));
  const names = new Set(after.map(({ name }) => name));
  const removed = before.filter(({ name }) => !names.has(name)).map(({ name }) => [name, null] as const);
  const set = after
    .filter((mark) => !keys.has(keyOf(mark)))
    .map((mark) => [mark.name, vocabulary.markValue(mark)] as const);
  return removed.length + set.length > 0 ? dict<unknown>([...removed, ...set]) : undefined;
}
