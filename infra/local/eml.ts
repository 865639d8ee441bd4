/** A mail as it is to be written down. */
export interface Message {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What RFC 5322 allows in a line, without its end. */
const LINE_BYTES = 998;
/** What fits into one encoded word of 75 characters. */
const WORD_BYTES = 45;

/** The file of a mail (RFC 5322, MIME): a text part and an HTML part, readable as they are wherever their lines allow it. */
export function emlOf(message: Message, { id, date }: { id: string; date: Date }): string {
  const boundary = `=_${id}`;
  const headers = [
    ['From', message.from],
    ['To', message.to.join(', ')],
    ['Subject', encodedWords(message.subject)],
    ['Date', date.toUTCString().replace('GMT', '+0000')],
    ['Message-ID', `<${id}@${message.from.slice(message.from.lastIndexOf('@') + 1)}>`],
    ...message.headers.map(([name, value]) => [name, encodedWords(value)] as const),
    ['MIME-Version', '1.0'],
    ['Content-Type', `multipart/alternative; boundary="${boundary}"`],
  ];
  return [
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    `--${boundary}`,
    ...part('text/plain', message.text),
    `--${boundary}`,
    ...part('text/html', message.html),
    `--${boundary}--`,
    '',
  ].join('\r\n');
}

function part(mediaType: string, content: string): string[] {
  const lines = content.split(/\r\n|\r|\n/);
  const readable = lines.every((line) => Buffer.byteLength(line) <= LINE_BYTES);
  return [
    `Content-Type: ${mediaType}; charset=UTF-8`,
    `Content-Transfer-Encoding: ${readable ? '8bit' : 'base64'}`,
    '',
    ...(readable ? lines : Buffer.from(content).toString('base64').match(/.{1,76}/g) ?? []),
  ];
}

/** A header's text in ASCII: encoded words (RFC 2047) where it is anything else, none of them with half a character. */
function encodedWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text;
  const words: string[] = [''];
  for (const character of text) {
    if (Buffer.byteLength(words.at(-1)! + character) > WORD_BYTES) words.push('');
    words[words.length - 1] += character;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ');
}
