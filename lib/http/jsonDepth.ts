const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a JSON text is nested deeper than so many levels. Takes linear time, and nearly none where a text has few brackets. */
export function isNestedDeeper(text: string, levels: number): boolean {
  return hasMoreBrackets(text, levels) && deepest(text, levels) > levels;
}

function hasMoreBrackets(text: string, count: number): boolean {
  let left = count;
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (--left < 0) return true;
  return false;
}

/** How deep a text is nested; just above `levels` when it is deeper. */
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

/** Where the string that begins at a place ends; the end of the text when nothing closes it. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}
