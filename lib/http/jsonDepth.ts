const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Returns whether a JSON text is nested deeper than `levels`. Takes linear time, and little time for a text with few brackets. */
export function isNestedDeeper(text: string, levels: number): boolean {
  return hasMoreBrackets(text, levels) && deepest(text, levels) > levels;
}

function hasMoreBrackets(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (--left < 0) return true;
  return false;
}

/** Returns the depth of a text, counted up to `levels` + 1. */
function deepest(text: string, levels: number): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < text.length && most <= levels; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) most = Math.max(most, ++depth);
    else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--;
  }
  return most;
}

/** Returns the position of the closing quote of the string that begins at `start`, or the length of the text without one. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
