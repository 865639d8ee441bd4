/** Marks that turn the direction of the text after them around: in a name they would disguise what follows. */
const DIRECTION_MARKS = /[\u202a-\u202e\u2066-\u2069]/g;
/** What ends a line, or is not shown; a subject must not contain it. */
const BREAKS = /[\s\p{Cc}\u2028\u2029]+/gu;

const LONGEST_LINE = 120;
const LONGEST_QUOTE = 1_000;

/** A text in one line, at most 120 characters; undefined when nothing is left. */
export function oneLine(text: string | undefined, most = LONGEST_LINE): string | undefined {
  return clipped((text ?? '').replace(DIRECTION_MARKS, '').replace(BREAKS, ' ').trim(), most) || undefined;
}

/** A text as a mail quotes it: its lines, at most 1,000 characters in all; undefined when nothing is left. */
export function toQuote(text: string | undefined): string | undefined {
  const lines = (text ?? '')
    .replace(DIRECTION_MARKS, '')
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{Cc}\n]/gu, ' ');
  return clipped(lines.replace(/\n{3,}/g, '\n\n').trim(), LONGEST_QUOTE) || undefined;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** What a reader sees of a piece of HTML, roughly: without its tags. It is text from then on, and escaped like any other. */
export function htmlToText(html: string): string {
  // No tag contains another `<`: so each of these looks at every character once.
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

/** Cut between two characters, with an ellipsis for the rest. */
function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
