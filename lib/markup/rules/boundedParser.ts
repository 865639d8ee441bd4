import { defaultTreeAdapter, type DefaultTreeAdapterTypes, html, parseFragment } from 'parse5';

export const MAX_DEPTH = 100;
/** A parser repeats open formatting elements, so short texts can have millions. */
export const MAX_ELEMENTS = 5_000;

export class ComplexMarkupError extends Error {}

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
