import { defaultTreeAdapter, type DefaultTreeAdapterTypes, html, parseFragment, serialize } from 'parse5';
import { isLongerThan } from '../../shared/bytes.ts';
import { allowedAttributes, type MayShowPicture, removedElements } from './allowList.ts';

type ParentNode = DefaultTreeAdapterTypes.ParentNode;
type ChildNode = DefaultTreeAdapterTypes.ChildNode;

export const MAX_DEPTH = 100;
/** A parser repeats open formatting elements, so short texts can have millions. */
export const MAX_ELEMENTS = 5_000;
/** Markup of editors needs one or two rounds. */
const MAX_ROUNDS = 8;

type CleanedMarkup = { readonly markup: string } | { readonly fault: string };

/** A second clean-up changes nothing, so a browser reads the tree that was checked. */
export function cleanMarkup(
  sent: string,
  { mayShow, maxBytes }: { readonly mayShow: MayShowPicture; readonly maxBytes: number },
): CleanedMarkup {
  let markup = sent;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (isLongerThan(markup, maxBytes)) return { fault: `must be at most ${maxBytes} bytes of UTF-8 as clean HTML` };
    const cleaned = cleanOnce(markup, mayShow);
    if (cleaned === markup) return { markup };
    if (cleaned === undefined) break;
    markup = cleaned;
  }
  return {
    fault: `must be well-formed HTML with at most ${MAX_ELEMENTS} elements, nested at most ${MAX_DEPTH} levels deep`,
  };
}

function cleanOnce(markup: string, mayShow: MayShowPicture): string | undefined {
  try {
    const fragment = parseBounded(markup);
    replaceChildren(fragment, cleanChildren(fragment, mayShow));
    return serialize(fragment);
  } catch (error) {
    if (error instanceof ComplexMarkupError) return undefined;
    throw error;
  }
}

// The parser can move subtrees down after it has counted their depth.
function cleanChildren(parent: ParentNode, mayShow: MayShowPicture, depth = 0): ChildNode[] {
  if (depth > MAX_DEPTH) throw new ComplexMarkupError();
  return parent.childNodes.flatMap((child) => {
    if (defaultTreeAdapter.isTextNode(child)) return [child];
    if (!defaultTreeAdapter.isElementNode(child) || child.namespaceURI !== html.NS.HTML) return [];
    if (removedElements.has(child.tagName)) return [];
    const children = cleanChildren(child, mayShow, depth + 1);
    const attributes = allowedAttributes(child.tagName, child.attrs, mayShow);
    if (!attributes) return children;
    child.attrs = attributes;
    replaceChildren(child, children);
    return [child];
  });
}

function replaceChildren(parent: ParentNode, children: ChildNode[]): void {
  parent.childNodes = children;
  for (const child of children) child.parentNode = parent;
  const [first] = children;
  // Parsers drop the first line break of a `pre`.
  if (parent.nodeName === 'pre' && first && defaultTreeAdapter.isTextNode(first) && first.value.startsWith('\n'))
    first.value = `\n${first.value}`;
}

class ComplexMarkupError extends Error {}

export function parseBounded(text: string): DefaultTreeAdapterTypes.DocumentFragment {
  let elements = 0;
  const depths = new WeakMap<object, number>();
  const place = (parent: object, child: object) => {
    const depth = (depths.get(parent) ?? 0) + 1;
    if (depth > MAX_DEPTH + 1) throw new ComplexMarkupError();
    depths.set(child, depth);
  };
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement: (...args) => {
      elements += 1;
      if (elements > MAX_ELEMENTS) throw new ComplexMarkupError();
      return defaultTreeAdapter.createElement(...args);
    },
    appendChild: (parent, child) => {
      place(parent, child);
      defaultTreeAdapter.appendChild(parent, child);
    },
    insertBefore: (parent, child, next) => {
      place(parent, child);
      defaultTreeAdapter.insertBefore(parent, child, next);
    },
  };
  return parseFragment(defaultTreeAdapter.createElement('div', html.NS.HTML, []), text, { treeAdapter });
}
