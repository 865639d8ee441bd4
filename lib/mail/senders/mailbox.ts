/**
 * 39 bytes become a word of 64 characters. A line may have 76 (RFC 2047), and the first one also has the name of the
 * header.
 */
const WORD_BYTES = 39;

/**
 * Printable ASCII without `=?` stays. Other text becomes encoded words (RFC 2047), none of which ends within a
 * character.
 */
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

/** For a mail header (RFC 5322): a name that needs no encoding is quoted, any other is encoded. */
export function mailbox(address: string, name: string | undefined): string {
  if (!name) return address;
  const [first, ...more] = encodedWords(name);
  const display = first === name ? `"${name.replace(/["\\]/g, '\\$&')}"` : [first, ...more].join(' ');
  return `${display} <${address}>`;
}
