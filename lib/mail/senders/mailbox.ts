/**
 * The most bytes of text in one encoded word. They become a word of 64 characters. A line with an encoded word can have 76
 * characters (RFC 2047), and the first line also has the name of the header.
 */
const WORD_BYTES = 39;

/** Returns ASCII text unchanged, and other text as encoded words (RFC 2047). No encoded word ends within a character. */
export function encodedWords(text: string): string[] {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return [text];
  const words: string[] = [];
  let last = '';
  for (const character of text) {
    if (Buffer.byteLength(last + character) > WORD_BYTES) {
      words.push(last);
      last = '';
    }
    last += character;
  }
  return [...words, last].map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`);
}

/** Returns a name and an address for a mail header (RFC 5322). An ASCII name is quoted, and any other name is encoded. */
export function mailbox(address: string, name: string | undefined): string {
  if (!name) return address;
  const [first, ...more] = encodedWords(name);
  const display = first === name ? `"${name.replace(/["\\]/g, '\\$&')}"` : [first, ...more].join(' ');
  return `${display} <${address}>`;
}
