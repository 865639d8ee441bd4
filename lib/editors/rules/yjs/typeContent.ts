import * as Y from 'yjs';
import { memoize } from './listDiff.ts';
import type { Shared } from './sharedTypes.ts';

export type Selection = (item: Y.Item) => boolean;

export const isPresent: Selection = ({ deleted }) => !deleted;

/** Equal content gives deeply equal results, also if other clients wrote it. Results are kept while the type exists. */
export function contentReader(isSelected: Selection): (type: Shared) => unknown {
  const read = memoize((type: Shared): unknown => {
    const entries = new Map<string, unknown>();
    for (const [key, last] of type._map) {
      const item = selectedItem(last, isSelected);
      if (item) entries.set(key, partsOf(item)[0]);
    }
    const list: unknown[] = [];
    for (let item = type._start; item; item = item.right)
      if (isSelected(item)) for (const part of partsOf(item)) addPart(list, part);
    return { kind: kindOf(type), entries, list };
  });

  const partsOf = ({ content }: Y.Item): unknown[] => {
    if (content instanceof Y.ContentType) return [read(content.type as Shared)];
    if (content instanceof Y.ContentString) return [content.str];
    if (content instanceof Y.ContentFormat) return [{ mark: [content.key, content.value] }];
    return content.getContent().map((value: unknown) => ({ value }));
  };
  return read;
}

/** Adjacent texts become one, because it depends on their clients how many items they have. */
function addPart(list: unknown[], part: unknown): void {
  const last = list.at(-1);
  if (typeof part === 'string' && typeof last === 'string') list[list.length - 1] = last + part;
  else list.push(part);
}

export function selectedItem(last: Y.Item | undefined, isSelected: Selection): Y.Item | undefined {
  let item = last ?? null;
  while (item && !isSelected(item)) item = item.left;
  return item ?? undefined;
}

/** The class of a nested type and its name. The class of a root type depends on who opened the document. */
export function kindOf(type: Shared): string {
  const { nodeName, hookName } = type as { nodeName?: string; hookName?: string };
  return type._item ? JSON.stringify([type.constructor.name, nodeName, hookName]) : 'root';
}
