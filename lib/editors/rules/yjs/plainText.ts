import * as Y from 'yjs';
import { textEdits } from './textDiff.ts';
import { itemsOf, type Shared } from './types.ts';

/** The characters of a text, whatever their formatting; what else a client embedded is no part of it. */
export function readText(text: Shared): string {
  let read = '';
  for (const item of itemsOf(text)) if (item.content instanceof Y.ContentString) read += item.content.str;
  return read;
}

/** Makes a text this one by the smallest change; inserted characters are formatted as those before them. */
export function replaceText(text: Y.Text, target: string): void {
  const edits = textEdits(readText(text as Shared), target);
  const scope = placesAmongEmbeds(text as Shared);
  for (const { index, remove, insert } of edits.toReversed()) {
    const at = scope(index);
    if (remove > 0) text.delete(at, scope(index + remove - 1) + 1 - at);
    if (insert !== '') text.insert(at, insert);
  }
}

/** Where a character is for Yjs, to which an embedded object is one as well. */
function placesAmongEmbeds(text: Shared): (index: number) => number {
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
      if (embeds[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return index + low;
  };
}
