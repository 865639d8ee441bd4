/** Unicode marks that reverse the text direction. In a name, they could disguise the text after the name. */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
/** Line breaks, white space and control characters. A subject must not contain line breaks. */
const BREAKS = /[\s\p{Cc}\u2028\u2029]+/gu;

const MAX_LINE_CHARACTERS = 120;
const MAX_QUOTE_CHARACTERS = 1_000;

/** Returns a text in one line of at most `most` characters. Returns undefined for an empty line. */
export function oneLine(text: string | undefined, most = MAX_LINE_CHARACTERS): string | undefined {
  return clipped((text ?? '').replace(DIRECTION_MARKS, '').replace(BREAKS, ' ').trim(), most) || undefined;
}

/** Returns a text with its line breaks, at most 1,000 characters. Returns undefined for an empty text. */
export function toQuote(text: string | undefined): string | undefined {
  const lines = (text ?? '')
    .replace(DIRECTION_MARKS, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, ' ');
  return clipped(lines.replace(/\n{3,}/g, '\n\n').trim(), MAX_QUOTE_CHARACTERS) || undefined;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Returns the approximate text of HTML, without tags. The result is plain text, so HTML that contains it must escape it. */
export function htmlToText(html: string): string {
  // The time is linear. No tag contains another `<`, so each expression reads every character once.
  return html
    .replace(/<br\s*\/?>|<\/(?:p|div|li|h[1-6])>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|(\w{2,4}));/g, (whole, code: string | undefined, name: string | undefined) =>
      code === undefined ? (entities[name ?? ''] ?? whole) : character(Number(code)),
    );
}

function character(code: number): string {
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? '' : String.fromCodePoint(code);
}

/** Cuts a text between two characters and adds an ellipsis. */
function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text);
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
