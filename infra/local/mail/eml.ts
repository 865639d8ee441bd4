import { encodedWords } from '../../../lib/mail/senders/mailbox.ts';

export interface OutgoingMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** RFC 5322's limit for a line, without the line break. */
const LINE_BYTES = 998;

/** The mailbox may be `ada@example.com` or `Ada <ada@example.com>`. */
export function domainOf(mailbox: string): string {
  return mailbox.slice(mailbox.lastIndexOf('@') + 1).replace(/>$/, '');
}

/**
 * Returns the text of an .eml file (RFC 5322, MIME). A part is readable 8-bit text, or base64 if a line of it is too
 * long.
 */
export function emlOf(message: OutgoingMail, { id, date }: { id: string; date: Date }): string {
  const boundary = `=_${id}`;
  const headers = [
    ['From', message.from.replaceAll('?= ', '?=\r\n ')],
    ['To', message.to.join(', ')],
    ['Subject', folded(message.subject)],
    ['Date', date.toUTCString().replace('GMT', '+0000')],
    ['Message-ID', `<${id}@${domainOf(message.from)}>`],
    ...message.headers.map(([name, value]) => [name, folded(value)] as const),
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
    ...(readable
      ? lines
      : (Buffer.from(content)
          .toString('base64')
          .match(/.{1,76}/g) ?? [])),
  ];
}

function folded(text: string): string {
  return encodedWords(text).join('\r\n ');
}
