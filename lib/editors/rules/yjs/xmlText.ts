/** XML as it is sent: a list of elements and texts, without an element around them. */
export interface WireElement {
  readonly name: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly children: WireNode[];
}
export type WireNode = string | WireElement;

/** Text of characters that XML knows as XML. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => escapes[character]!);
}

/** The same for the value of an attribute, whose line breaks and tabs a parser would make blanks of. */
export function escapeAttribute(text: string): string {
  return text.replace(/[&<>"\r\n\t]/g, (character) => escapes[character]!);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** A text of the same length in which characters that XML does not know, even escaped, are U+FFFD. */
export function knownToXml(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD');
}

const startCharacter =
  /^[:A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]$/u;
const laterCharacter = /^[\-.0-9\u{B7}\u{300}-\u{36F}\u{203F}-\u{2040}]$/u;
const ESCAPED = /_x([0-9A-F]{2,6})_/g;

/** A name as XML allows it: editors may use any text as a name, so what XML does not allow is written as `_x2F_`. */
export function encodeName(name: string): string {
  if (name === '') return '_x_';
  if (isName(name) && name !== '_x_' && !/_x[0-9A-F]{2,6}_/.test(name)) return name;
  let encoded = '';
  // What looks like an escape is one no more when its underscore is escaped.
  for (const character of name.replaceAll('_x', '_x5F_x')) {
    const allowed = encoded === '' ? startCharacter.test(character) : isNameCharacter(character);
    encoded += allowed ? character : `_x${character.codePointAt(0)!.toString(16).toUpperCase().padStart(2, '0')}_`;
  }
  return encoded;
}

function isName(text: string): boolean {
  const [first, ...rest] = text;
  return startCharacter.test(first!) && rest.every(isNameCharacter);
}

function isNameCharacter(character: string): boolean {
  return startCharacter.test(character) || laterCharacter.test(character);
}

/** The name that an XML name stands for; one that no name is written as stands for itself. */
export function decodeName(name: string): string {
  if (!name.includes('_x')) return name;
  const decoded =
    name === '_x_'
      ? ''
      : name.replace(ESCAPED, (whole, code: string) =>
          parseInt(code, 16) <= 0x10ffff ? String.fromCodePoint(parseInt(code, 16)) : whole,
        );
  return encodeName(decoded) === name ? decoded : name;
}
