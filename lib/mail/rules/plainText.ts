/** These characters change the text direction. In a name, they could disguise the text after it. */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
/** A subject must not contain line breaks. */
const BREAKS = /[\s\p{Cc}\u2028\u2029]+/gu;

const MAX_LINE_CHARACTERS = 120;
const MAX_QUOTE_CHARACTERS = 1_000;

export function oneLine(text: string | undefined, most = MAX_LINE_CHARACTERS): string | undefined {
  return clipped((text ?? '').replace(DIRECTION_MARKS, '').replace(BREAKS, ' ').trim(), most) || undefined;
}

export function toQuote(text: string | undefined): string | undefined {
  const lines = (text ?? '')
    .replace(DIRECTION_MARKS, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, ' ');
  return clipped(lines.replace(/\n{3,}/g, '\n\n').trim(), MAX_QUOTE_CHARACTERS) || undefined;
}

/** A shortened text ends with an ellipsis, and no character is cut in two. */
function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  // A character has at most two code units, so the rest of a long text need not be split.
  const characters = Array.from(text.slice(0, 2 * (most + 1)));
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
