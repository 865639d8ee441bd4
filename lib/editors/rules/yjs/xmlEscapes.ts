const escapes: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ['\r', '&#13;'],
  ['\n', '&#10;'],
  ['\t', '&#9;'],
]);
const escapeOf = (character: string) => escapes.get(character) ?? character;

export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, escapeOf);
}

/** Also escapes line breaks and tabs, which a parser would turn into blanks. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"\r\n\t]/g, escapeOf);
}

/** U+FFFD replaces the characters that XML forbids even as escapes. The length stays the same. */
export function replaceDisallowed(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD');
}

const startCharacter =
  /^[:A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]$/u;
const laterCharacter = /^[\-.0-9\u{B7}\u{300}-\u{36F}\u{203F}-\u{2040}]$/u;
const EMPTY_NAME = '_x_';
const ESCAPED = /_x([0-9A-F]{2,6})_/g;

/** Editors can use any text as a name. A character that XML forbids in names, such as `/`, becomes `_x2F_`. */
export function encodeName(name: string): string {
  if (name === '') return EMPTY_NAME;
  const encoded = encodeCharacters(name);
  if (encoded === name && name !== EMPTY_NAME && name.search(ESCAPED) < 0) return name;
  // Text in the name looks like an escape, so its underscore is escaped.
  return encodeCharacters(name.replaceAll('_x', '_x5F_x'));
}

function encodeCharacters(text: string): string {
  return Array.from(text, (character, index) => {
    if (startCharacter.test(character) || (index > 0 && laterCharacter.test(character))) return character;
    return `_x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}_`;
  }).join('');
}

export function decodeName(name: string): string {
  if (!name.includes('_x')) return name;
  const decode = (escaped: string, code: string) =>
    parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(parseInt(code, 16)) : escaped;
  const decoded = name === EMPTY_NAME ? '' : name.replace(ESCAPED, decode);
  return encodeName(decoded) === name ? decoded : name;
}
