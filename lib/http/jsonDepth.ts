const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** In linear time, and less for a text with few brackets. */
export function isNestedDeeper(text: string, levels: number): boolean {
  return hasMoreBrackets(text, levels) && countLevels(text, levels) > levels;
}

function hasMoreBrackets(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ['{', '['])
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1))
      if (++count > limit) return true;
  return false;
}

function countLevels(text: string, limit: number): number {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < text.length && deepest <= limit; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) deepest = Math.max(deepest, ++depth);
    else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let firstBackslash = quote;
    while (text.charCodeAt(firstBackslash - 1) === BACKSLASH) firstBackslash--;
    // A quote after an odd number of backslashes is escaped.
    if ((quote - firstBackslash) % 2 === 0) return quote;
  }
  return text.length;
}
