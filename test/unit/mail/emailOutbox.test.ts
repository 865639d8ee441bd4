import { watch } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { emlOf, type OutgoingMail } from '../../../infra/local/mail/eml.ts';
import { openOutbox } from '../../../infra/local/mail/mailOutbox.ts';
import { encodedWords, mailbox } from '../../../lib/mail/senders/mailbox.ts';
import { times } from '../../support/times.ts';

const message: OutgoingMail = {
  from: 'no-reply@example.com',
  to: ['ada@example.com'],
  subject: 'Hello',
  text: 'One\nTwo ü',
  html: '<p>ü</p>',
  headers: [['List-Unsubscribe', '<https://x.test/u>']],
};
const date = new Date(Date.UTC(2026, 0, 2, 3, 4, 5));
const write = (changes: Partial<OutgoingMail> = {}) => emlOf({ ...message, ...changes }, { id: 'mail-1', date });
/** Returns the raw value of a header in the file. A folded value has several lines. */
const header = (eml: string, name: string) => new RegExp(`^${name}: ((?:.*\\r\\n[ \\t])*.*)\\r$`, 'm').exec(eml)?.[1];

describe('the .eml file of a mail', () => {
  test('is readable RFC 5322 with a text and an HTML part', () => {
    expect(write()).toBe(
      [
        'From: no-reply@example.com',
        'To: ada@example.com',
        'Subject: Hello',
        'Date: Fri, 02 Jan 2026 03:04:05 +0000',
        'Message-ID: <mail-1@example.com>',
        'List-Unsubscribe: <https://x.test/u>',
        'MIME-Version: 1.0',
        'Content-Type: multipart/alternative; boundary="=_mail-1"',
        '',
        '--=_mail-1',
        'Content-Type: text/plain; charset=UTF-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        'One',
        'Two ü',
        '--=_mail-1',
        'Content-Type: text/html; charset=UTF-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        '<p>ü</p>',
        '--=_mail-1--',
        '',
      ].join('\r\n'),
    );
  });

  test('ends every line with CRLF for any line ends of the text', () => {
    expect(write({ text: 'a\r\nb\rc\nd' })).toContain('a\r\nb\r\nc\r\nd\r\n');
    expect(write()).not.toMatch(/[^\r]\n|\r[^\n]/);
  });

  test('has no header line of more than 76 characters with an encoded word', () => {
    const eml = write({ subject: 'ü'.repeat(200), from: mailbox('no-reply@example.com', 'Straße '.repeat(20)) });
    const lines = eml.split('\r\n').filter((line) => line.includes('=?UTF-8?'));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(76);
    expect(header(eml, 'Subject')).toBe(encodedWords('ü'.repeat(200)).join('\r\n '));
    expect(header(eml, 'From')).toMatch(/\?=\r\n <no-reply@example\.com>$/);
  });

  test('encodes a part whose lines are too long for a mail', () => {
    const text = `${'ü'.repeat(500)}\nend`;
    const eml = write({ text });
    for (const line of eml.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998);
    const [, encoded = ''] = /Content-Transfer-Encoding: base64\r\n\r\n([^-]+)\r\n--/.exec(eml) ?? [];
    expect(Buffer.from(encoded, 'base64').toString()).toBe(text);
  });
});

describe('the mail folder of a local run', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'outbox-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  test('writes one .eml file per mail that only its owner can read', async () => {
    const outbox = await openOutbox(dataDir);
    const ids = await Promise.all(times(20, (index) => outbox.put({ ...message, subject: `Mail ${index}` })));
    const files = await readdir(join(dataDir, 'outbox'));
    expect(files.filter((name) => name.endsWith('.eml'))).toHaveLength(20);
    expect(files).toHaveLength(20);
    for (const id of ids) {
      const name = files.find((candidate) => candidate.endsWith(`-${id}.eml`))!;
      expect(name).toMatch(/^\d{8}T\d{9}Z-/);
      expect((await stat(join(dataDir, 'outbox', name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(join(dataDir, 'outbox'))).mode & 0o777).toBe(0o700);
  });

  test('contains only complete files at any time', async () => {
    const outbox = await openOutbox(dataDir);
    const seen = new Map<string, Promise<string>>();
    const watcher = watch(join(dataDir, 'outbox'), (_event, name) => {
      if (name?.endsWith('.eml') && !seen.has(name)) seen.set(name, readFile(join(dataDir, 'outbox', name), 'utf8'));
    });
    try {
      for (let i = 0; i < 10; i++) await outbox.put({ ...message, text: 'x'.repeat(500_000) });
      while (seen.size < 10) await new Promise((resolve) => watcher.once('change', resolve));
      for (const content of seen.values()) expect(await content).toMatch(/--=_[0-9a-f-]+--\r\n$/);
    } finally {
      watcher.close();
    }
  });

  test('keeps the mails of earlier runs', async () => {
    await (await openOutbox(dataDir)).put(message);
    await (await openOutbox(dataDir)).put(message);
    expect(await readdir(join(dataDir, 'outbox'))).toHaveLength(2);
  });
});
