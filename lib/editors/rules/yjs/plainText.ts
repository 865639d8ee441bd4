import * as Y from 'yjs';
import { at } from './diff.ts';
import { itemsOf, type Shared } from './sharedTypes.ts';
import { textEdits } from './textDiff.ts';

/** Leaves out formatting and embedded objects. */
export function readText(text: Shared): string {
  let read = '';
  for (const item of itemsOf(text)) if (item.content instanceof Y.ContentString) read += item.content.str;
  return read;
}

/** Inserted characters get the formatting of the character before them. */
export function replaceText(text: Y.Text, target: string): void {
  const edits = textEdits(readText(text as Shared), target);
  const positionOf = positionsWithEmbeds(text as Shared);
  for (const { index, remove, insert } of edits.toReversed()) {
    const position = positionOf(index);
    if (remove > 0) text.delete(position, positionOf(index + remove - 1) + 1 - position);
    if (insert !== '') text.insert(position, insert);
  }
}

/** Yjs counts each embedded object as one character. */
function positionsWithEmbeds(text: Shared): (index: number) => number {
  const embeds: number[] = [];
  let characters = 0;
  for (const item of itemsOf(text)) {
    if (item.content instanceof Y.ContentString) characters += item.length;
    else if (item.countable) embeds.push(characters);
  }
  return (index) => {
    let [low, high] = [0, embeds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(embeds, middle) <= index) low = middle + 1;
      else high = middle;
    }
    return index + low;
  };
}
