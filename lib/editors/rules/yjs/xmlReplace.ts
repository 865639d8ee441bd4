import * as Y from 'yjs';
import { carryOut, type Interner, remembered, replacements, sharedPart } from './align.ts';
import { textEdits } from './textDiff.ts';
import { contentOf, type Shared } from './types.ts';
import type { Writer } from './writers.ts';
import {
  type Attribute,
  blockDefaults,
  type ElementNode,
  keyOf,
  type Mark,
  marksKeyOf,
  type Run,
  type SpanNode,
  type TextNode,
  type XmlNode,
} from './xmlNodes.ts';
import type { StoredNode, Usage } from './xmlRead.ts';

/** A place that holds nodes: ProseMirror's elements, or one of Lexical's blocks. */
type Place = Y.XmlFragment | Y.XmlText;

const MOST_FEATURES = 100;

/** Changes the nodes of a document into others; nodes that are equal in both are not touched. */
export class XmlReplacement {
  readonly #writer: Writer;
  readonly #usage: Usage;
  readonly #interner: Interner;

  constructor(writer: Writer, usage: Usage, interner: Interner) {
    this.#writer = writer;
    this.#usage = usage;
    this.#interner = interner;
  }

  replaceNodes(scope: Place, before: readonly StoredNode[], after: readonly XmlNode[]): void {
    const end = before.length > 0 ? before.at(-1)!.at + before.at(-1)!.length : scope.length;
    const startOf = (at: number) => before[at]?.at ?? end;
    const replaced = replacements(before.map(this.#numberOf), after.map(this.#numberOf), (at, from) =>
      this.#likeness(before[at]!, after[from]!),
    );
    carryOut(replaced, {
      remove: (at, count) => {
        const last = before[at + count - 1]!;
        scope.delete(startOf(at), last.at + last.length - startOf(at));
      },
      insert: (at, from, count) => this.#insert(scope, startOf(at), after.slice(from, from + count)),
      change: (at, from) => this.#change(scope, before[at]!, after[from]!),
    });
  }

  readonly #numberOf: (node: XmlNode) => number = remembered((node) => {
    if (node.shape === 'text')
      return this.#interner.of(`text ${JSON.stringify(node.runs.map(({ text, marks }) => [text, marksKeyOf(marks)]))}`);
    const within = 'text' in node ? JSON.stringify(node.text) : node.children.map(this.#numberOf).join();
    return this.#interner.of(`${node.shape} ${keyOf(node)} ${within}`);
  });

  /** What of a node another may have as well: its attributes, its children and the words of its text. */
  readonly #featuresOf: (node: XmlNode) => number[] = remembered((node) => {
    const attributes =
      'attributes' in node ? node.attributes.map(([name, text]) => this.#interner.of(`${name}=${text}`)) : [];
    const children = 'children' in node ? node.children.slice(0, MOST_FEATURES).map(this.#numberOf) : [];
    const words = textOf(node, 1_000)
      .split(/\s+/, MOST_FEATURES)
      .map((word) => this.#interner.of(`word ${word}`));
    return [...attributes, ...children, ...words];
  });

  #likeness(before: StoredNode, after: XmlNode): number {
    if (before.shape !== after.shape || before.shape === 'opaque' || before.shape === 'loose') return 0;
    if ('name' in before && 'name' in after && before.name !== after.name) return 0;
    return (
      sharedPart(this.#featuresOf(before), this.#featuresOf(after)) +
      (idOf(before) !== undefined && idOf(before) === idOf(after) ? 1 : 0)
    );
  }

  #change(scope: Place, before: StoredNode, after: XmlNode): void {
    const [type] = before.types;
    if (before.shape === 'text' && after.shape === 'text') this.#changeText(scope as Y.XmlFragment, before, after);
    else if ('children' in before && 'children' in after) {
      this.#replaceAttributes(type!, before, after.attributes, before.shape === 'block' || scope instanceof Y.XmlText);
      this.replaceNodes(type as unknown as Place, before.children as StoredNode[], after.children);
    } else if ('text' in before && 'text' in after) {
      this.#replaceAttributes(type!, before, after.attributes, true);
      const text = scope as Y.XmlText;
      for (const { index, remove, insert } of textEdits(before.text, after.text).toReversed()) {
        text.delete(before.at + 1 + index, remove);
        text.insert(before.at + 1 + index, insert);
      }
    }
  }

  #changeText(scope: Y.XmlFragment, before: StoredNode & TextNode, after: TextNode): void {
    const [first, ...others] = before.types as unknown as Y.XmlText[];
    let { runs } = before;
    if (others.length > 0) {
      scope.delete(before.at + 1, before.length - 1);
      runs = cut(runs, first!.length);
    }
    first!.applyDelta(deltaOf(runs, after.runs, this.#usage));
  }

  #replaceAttributes(
    type: Shared,
    before: { readonly name: string; readonly attributes: readonly Attribute[] },
    after: readonly Attribute[],
    isLexical: boolean,
  ): void {
    const target = new Map(after);
    const current = new Map(before.attributes);
    const holder = type as unknown as Attributed;
    for (const name of current.keys()) {
      if (target.has(name)) continue;
      if (isLexical && blockDefaults.has(name)) this.#set(holder, name, blockDefaults.get(name));
      else if (holder instanceof Y.Map) holder.delete(name);
      else holder.removeAttribute(name);
    }
    for (const [name, text] of target) {
      if (current.get(name) === text) continue;
      const item = type._map.get(name);
      this.#set(
        holder,
        name,
        this.#usage.attributeValue(
          before.name,
          name,
          text,
          item && !item.deleted ? contentOf(item) : undefined,
          isLexical,
        ),
      );
    }
  }

  #set(holder: Attributed, name: string, value: unknown): void {
    this.#writer.overwriting((holder as unknown as Shared)._map.get(name), () => {
      if (holder instanceof Y.Map) holder.set(name, value);
      else holder.setAttribute(name, value as string);
    });
  }

  #insert(scope: Place, at: number, nodes: readonly XmlNode[]): void {
    if (scope instanceof Y.XmlText) {
      let next = at;
      for (const node of nodes) next = this.#insertIntoBlock(scope, next, node);
      return;
    }
    const types = nodes.map((node) =>
      node.shape === 'text' ? new Y.XmlText() : new Y.XmlElement((node as ElementNode).name),
    );
    scope.insert(at, types);
    for (const [index, node] of nodes.entries()) {
      const type = types[index]!;
      if (node.shape === 'text') (type as Y.XmlText).applyDelta(deltaOf([], node.runs, this.#usage));
      else this.#fill(type, node as ElementNode, false);
    }
  }

  #insertIntoBlock(block: Y.XmlText, at: number, node: XmlNode): number {
    const type = 'text' in node ? new Y.Map<unknown>() : node.shape === 'block' ? new Y.XmlText() : new Y.XmlElement();
    block.insertEmbed(at, type);
    const { name } = node as ElementNode | SpanNode;
    this.#set(type, '__type', name);
    if ('text' in node) {
      if (name === 'text')
        for (const property of ['__format', '__style', '__mode', '__detail'])
          this.#set(type, property, blockDefaults.get(property));
      this.#replaceAttributes(type as unknown as Shared, { name, attributes: [] }, node.attributes, true);
      block.insert(at + 1, node.text, {});
      return at + 1 + node.text.length;
    }
    this.#fill(type as Y.XmlText | Y.XmlElement, node as ElementNode, true);
    return at + 1;
  }

  #fill(type: Y.XmlText | Y.XmlElement, node: ElementNode, isLexical: boolean): void {
    this.#replaceAttributes(type as unknown as Shared, { name: node.name, attributes: [] }, node.attributes, isLexical);
    this.#insert(type, 0, node.children);
  }
}

type Attributed = Y.XmlElement | Y.XmlText | Y.Map<unknown>;

/** The characters of a node and of all within, up to about so many. */
function textOf(node: XmlNode, most: number): string {
  if (node.shape === 'text')
    return node.runs
      .map(({ text }) => text)
      .join('')
      .slice(0, most);
  if ('text' in node) return node.text.slice(0, most);
  let text = '';
  for (const child of node.children) {
    if (text.length >= most) break;
    text += `${textOf(child, most - text.length)} `;
  }
  return text;
}

/** What an element's editor knows it by. */
function idOf(node: XmlNode): string | undefined {
  return 'attributes' in node
    ? node.attributes.find(([name]) => /^(__)?(id|blockId|data-id|key)$/.test(name))?.[1]
    : undefined;
}

function cut(runs: readonly Run[], length: number): Run[] {
  const kept: Run[] = [];
  let left = length;
  for (const { text, marks } of runs) {
    if (left > 0) kept.push({ text: text.slice(0, left), marks });
    left -= text.length;
  }
  return kept;
}

interface DeltaStep {
  insert?: string;
  retain?: number;
  delete?: number;
  attributes?: Record<string, unknown>;
}

/** The change of formatted text: characters first, then the formatting of those that stay. */
function deltaOf(before: readonly Run[], after: readonly Run[], usage: Usage): DeltaStep[] {
  const [old, target] = [new RunReader(before), new RunReader(after)];
  const delta: DeltaStep[] = [];
  const keep = (length: number) => {
    for (let left = length; left > 0;) {
      const taken = Math.min(left, old.left, target.left);
      const attributes = changedMarks(old.marks, target.marks, usage);
      delta.push(attributes ? { retain: taken, attributes } : { retain: taken });
      old.skip(taken);
      target.skip(taken);
      left -= taken;
    }
  };
  let at = 0;
  for (const { index, remove, insert } of textEdits(old.text, target.text)) {
    keep(index - at);
    if (remove > 0) delta.push({ delete: remove });
    old.skip(remove);
    at = index + remove;
    for (let put = 0; put < insert.length;) {
      const taken = Math.min(insert.length - put, target.left);
      delta.push({
        insert: insert.slice(put, put + taken),
        attributes: attributesOf(target.marks.map((mark) => [mark.name, usage.markValue(mark)])),
      });
      target.skip(taken);
      put += taken;
    }
  }
  keep(old.text.length - at);
  return delta;
}

/** Reads along runs, a part at a time. */
class RunReader {
  readonly text: string;
  readonly #runs: readonly Run[];
  #run = 0;
  #at = 0;

  constructor(runs: readonly Run[]) {
    this.#runs = runs;
    this.text = runs.map(({ text }) => text).join('');
  }

  get left(): number {
    return this.#runs[this.#run]!.text.length - this.#at;
  }

  get marks(): readonly Mark[] {
    return this.#runs[this.#run]!.marks;
  }

  skip(length: number): void {
    for (let left = length; left > 0;) {
      const taken = Math.min(left, this.left);
      this.#at += taken;
      left -= taken;
      if (this.left === 0) [this.#run, this.#at] = [this.#run + 1, 0];
    }
  }
}

function changedMarks(
  before: readonly Mark[],
  after: readonly Mark[],
  usage: Usage,
): Record<string, unknown> | undefined {
  const keys = new Set(before.map(keyOf));
  const names = new Set(after.map(({ name }) => name));
  const changed: [string, unknown][] = [
    ...before.filter(({ name }) => !names.has(name)).map(({ name }): [string, unknown] => [name, null]),
    ...after
      .filter((mark) => !keys.has(keyOf(mark)))
      .map((mark): [string, unknown] => [mark.name, usage.markValue(mark)]),
  ];
  return changed.length > 0 ? attributesOf(changed) : undefined;
}

/** Without a prototype: a mark may have any name. */
function attributesOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const attributes = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of entries) attributes[name] = value;
  return attributes;
}
