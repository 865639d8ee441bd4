/** What fits into one encoded word of 75 characters. */
const WORD_BYTES = 45;

/** A text in ASCII: encoded words (RFC 2047) when it is anything else, none of them with half a character. */
export function encodedWords(text: string): string[] {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return [text];
  const words: string[] = [''];
  for (const character of text) {
    if (Buffer.byteLength(words.at(-1)! + character) > WORD_BYTES) words.push('');
    words[words.length - 1] += character;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`);
}

/** An address with a name before it, as headers have it (RFC 5322): the name quoted, or encoded where it is not ASCII. */
export function mailbox(address: string, name: string | undefined): string {
  if (!name) return address;
  const [first, ...more] = encodedWords(name);
  const shown = first === name ? `"${name.replace(/["\\]/g, '\\$&')}"` : [first, ...more].join(' ');
  return `${shown} <${address}>`;
}
