import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { defaultEmailTriggers, type MailedType, mailedTypes } from '../../../lib/events/rules/catalogue.ts';
import { eventMail, templateData } from '../../../lib/mail/rendering/eventMail.ts';
import { ownerMail } from '../../../lib/mail/rendering/ownerMail.ts';
import { eventMailContent, findPerson, parseEventContent } from '../../../lib/mail/rules/eventMailContent.ts';
import { isMailed } from '../../../lib/mail/rules/headlines.ts';
import {
  applyMailResult,
  claimMail,
  type MailRecord,
  type MailResult,
  type MailSubject,
  newMail,
  type ReadyMail,
  rescheduleSweep,
} from '../../../lib/mail/rules/mailRecord.ts';
import { oneLine, toQuote } from '../../../lib/mail/rules/plainText.ts';
import { isEventMailed, providerOf } from '../../../lib/mail/rules/provider.ts';
import { encodedWords, mailbox } from '../../../lib/mail/senders/mailbox.ts';
import { unsubscribeHeaders } from '../../../lib/mail/unsubscribeLinks.ts';
import { htmlToText } from '../../../lib/markup/rules/htmlToText.ts';
import { mailAddressOf } from '../../../lib/shared/mailAddress.ts';
import { sampleEvent } from '../../../lib/webhooks/rules/samples.ts';
import { EmailConfig, initialEmailConfig } from '../../../lib/workspaces/rules/emailConfig.ts';
import { markupOf, markupText } from '../../support/markup.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const timing = { schedule: [0, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000], marginMs: 300_000 };
const NOW = Date.UTC(2026, 0, 15);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const aboutEvent: MailSubject = { kind: 'event', eventId: 'msg_1', event: 'comment.add', userId: 'ada' };
const aboutEndpoint: MailSubject = {
  kind: 'endpointFailure',
  endpointId: 'ep_1',
  url: 'https://hooks.example.com/in',
  stage: 1,
  failingSince: NOW,
};
const optionsAt = (now: number) => ({ now, random: 0.5, timing });
const made = (about: MailSubject = aboutEvent) => newMail({ mailId: 'mail_1', about, shard: 3 }, NOW, timing);
const attempted = (mail: MailRecord, result: MailResult, now: number) =>
  applyMailResult(claimMail(mail as ReadyMail, 'clm', now), result, optionsAt(now));

/** Makes the attempts of a mail, all with the same result. Returns the pauses after them, and the mail at its end. */
function attemptsWith(result: MailResult): { pauses: number[]; mail: MailRecord; counts: number[] } {
  let mail: MailRecord = made();
  let now = NOW;
  const [pauses, counts]: [number[], number[]] = [[], []];
  for (;;) {
    mail = attempted(mail, result, now);
    if (mail.nextAt === undefined) return { pauses, mail, counts };
    pauses.push(mail.nextAt - now);
    counts.push(mail.attempts);
    now = mail.nextAt;
  }
}

describe('the state of a mail', () => {
  test('is due at once, and has a claim and a lease while it is sent', () => {
    expect(made()).toMatchObject({
      status: 'READY',
      nextAt: NOW,
      dueAt: NOW + 5 * MINUTE,
      attempts: 0,
      createdAt: NOW,
    });
    const mine = claimMail(made(), 'clm_1', NOW);
    expect(mine).toMatchObject({ status: 'SENDING', attempts: 1, claim: 'clm_1', dueAt: mine.leaseUntil });
    expect(mine).not.toHaveProperty('nextAt');
  });

  const unknown: MailResult = { outcome: 'unknown', reason: 'no answer' };
  test.each<[string, MailResult, MailSubject, object]>([
    [
      'is final after it was sent',
      { outcome: 'sent', messageId: 'ses-1' },
      aboutEvent,
      { status: 'SENT', messageId: 'ses-1' },
    ],
    ['is final if its result is unknown', unknown, aboutEvent, { status: 'UNKNOWN', reason: 'no answer' }],
    [
      'is due again if it is to an owner and its result is unknown',
      unknown,
      aboutEndpoint,
      { status: 'READY', reason: 'no answer', nextAt: NOW + MINUTE, dueAt: NOW + 6 * MINUTE },
    ],
    [
      'fails at once if the provider rejects it',
      { outcome: 'failed', reason: 'MessageRejected', retry: false },
      aboutEvent,
      { status: 'FAILED', reason: 'MessageRejected' },
    ],
    [
      'fails at once if the provider rejects the API key',
      { outcome: 'denied', reason: '401' },
      aboutEvent,
      { status: 'FAILED', reason: '401' },
    ],
  ])('%s', (_what, result, about, expected) => {
    const { nextAt: _nextAt, dueAt: _dueAt, ...mail } = made(about);
    expect(attempted(made(about), result, NOW)).toEqual({ ...mail, attempts: 1, ...expected });
  });

  test('is due again by the schedule, and fails after the last attempt', () => {
    const { pauses, mail } = attemptsWith({ outcome: 'failed', reason: '500', retry: true });
    expect(pauses).toEqual(timing.schedule.slice(1));
    expect(mail).toMatchObject({ status: 'FAILED', attempts: 6, reason: '500' });
  });

  test('is postponed when the provider throttles, by at most ten minutes, without counting an attempt', () => {
    const { pauses, mail, counts } = attemptsWith({ outcome: 'throttled', reason: 'Throttling' });
    expect(pauses.slice(0, 7)).toEqual([15, 30, 60, 120, 240, 480, 600].map((seconds) => seconds * 1_000));
    expect([Math.max(...pauses), Math.max(...counts), mail.status]).toEqual([10 * MINUTE, 0, 'FAILED']);
    expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(29 * HOUR);
  });

  test('is due after the pause that the provider states, at most until the deadline', () => {
    const waits = (retryAfterSeconds: number) =>
      attempted(made(), { outcome: 'throttled', reason: '429', retryAfterSeconds }, NOW).nextAt! - NOW;
    expect([waits(0), waits(90), waits(86_400)]).toEqual([15_000, 90_000, 86_400_000]);
  });

  test('doubles the time until each next sweep, but not for a sweep before the attempt is due', () => {
    const first = rescheduleSweep(made(), NOW + 5 * MINUTE, timing);
    expect(first).toMatchObject({ sweeps: 1, dueAt: NOW + 15 * MINUTE });
    expect(rescheduleSweep(first, NOW + 15 * MINUTE, timing)).toMatchObject({ sweeps: 2, dueAt: NOW + 35 * MINUTE });
    const later = { ...made(), nextAt: NOW + 2 * HOUR };
    expect(rescheduleSweep(later, NOW + 2 * HOUR - 90_000, timing)).toMatchObject({
      sweeps: 0,
      dueAt: NOW + 2 * HOUR + 5 * MINUTE,
    });
  });
});

describe('isEventMailed and providerOf', () => {
  const config = (service: object, useEmailService = true) =>
    EmailConfig.parse({
      useEmailService,
      emailServiceConfig: { ...initialEmailConfig.emailServiceConfig, ...service },
    });

  test('mails an event only when the service and its trigger are on', () => {
    expect(isEventMailed(config({ triggers: { 'comment.add': true } }), 'comment.add')).toBe(true);
    expect(isEventMailed(config({ triggers: { 'comment.add': true } }, false), 'comment.add')).toBe(false);
    expect(isEventMailed(config({ triggers: { 'comment.add': false } }), 'comment.add')).toBe(false);
    expect(isEventMailed(config({}), 'comment.add')).toBe(false);
    expect(isEventMailed(undefined, 'comment.add')).toBe(false);
  });

  test('can mail every type of the default triggers, and no type that concerns no particular user', () => {
    expect(Object.keys(defaultEmailTriggers).filter((type) => !isMailed(type))).toEqual([]);
    expect(isEventMailed(config({ triggers: { 'crdt.update_data': true } }), 'crdt.update_data')).toBe(false);
  });

  test.each([
    ['default', '', 'ses'],
    ['default', 'SG.key', 'ses'],
    ['custom', '', 'ses'],
    ['custom', 'SG.key', 'sendgrid'],
    ['sendgrid', '', 'sendgrid'],
    ['sendgrid', 'SG.key', 'sendgrid'],
  ])('sends configuration type %s with the key "%s" through %s', (type, apiKey, provider) => {
    expect(providerOf(config({ type, apiKey }))).toBe(provider);
  });
});

const unsubscribeLink = 'https://api.test/v2/notifications/email/unsubscribe?token=1.a&b';
const contentOf = (event: MailedType, userId = 'grace', changes: object = {}) =>
  eventMailContent(event, parseEventContent({ ...sampleEvent(event, 'key').payload.data, ...changes }), userId);
const mailOf = (event: MailedType, userId?: string, changes?: object) =>
  eventMail(contentOf(event, userId, changes), { to: 'grace@example.com', unsubscribeLink });

describe('a mail about an event', () => {
  test.each(mailedTypes)('for %s contains actor, action, document and the reason for the mail', (event) => {
    const mail = mailOf(event);
    expect(mail.subject).toMatch(/^Ada Lovelace .+ (in|on) Notes on the engine$/);
    for (const form of [mail.text, mail.html]) {
      expect(form).toContain('Notes on the engine · Acme');
      expect(form).toContain('You get this mail because');
      expect(form).not.toMatch(/undefined|null|\[object/);
    }
    expect(mail.text).toContain(unsubscribeLink);
    expect(mail.html).toContain(`href="${unsubscribeLink.replace('&', '&#38;')}"`);
  });

  test.each<[event: MailedType, userId: string, changes: object, headline: string]>([
    ['comment_annotation.add', 'grace', {}, 'Ada Lovelace mentioned you'],
    ['comment_annotation.add', 'linus', {}, 'Ada Lovelace commented'],
    ['comment.add', 'ada', { actionUser: { userId: 'grace', name: 'Grace Hopper' } }, 'Grace Hopper replied to you'],
    ['comment.add', 'linus', {}, 'Ada Lovelace replied'],
    ['comment_annotation.assign', 'grace', {}, 'Ada Lovelace assigned you a comment'],
    ['comment_annotation.assign', 'linus', {}, 'Ada Lovelace assigned a comment to Grace Hopper'],
    ['comment_annotation.status_change', 'linus', {}, 'Ada Lovelace changed the status of a comment to Resolved'],
    [
      'comment_annotation.status_change',
      'ada',
      { newStatus: 'OPEN' },
      'Ada Lovelace changed the status of your comment to OPEN',
    ],
    [
      'comment_annotation.priority_change',
      'linus',
      { newPriority: undefined },
      'Ada Lovelace changed the priority of a comment',
    ],
    ['huddle.create', 'grace', {}, 'Ada Lovelace started a huddle'],
  ])('for %s and the recipient %s has its own headline', (event, userId, changes, headline) => {
    expect(contentOf(event, userId, changes).headline).toBe(headline);
  });

  test('shows a reaction only when it is an emoji', () => {
    const reacted = (icon: string) =>
      contentOf('comment.reaction_add', 'ada', {
        targetComment: { from: { userId: 'ada' }, reactionAnnotations: [{ icon }] },
      }).headline;
    expect(reacted('👍🏽')).toBe('Ada Lovelace reacted with 👍🏽 to your comment');
    expect(reacted('HEART_FACE')).toBe('Ada Lovelace reacted to your comment');
  });

  test('quotes at most 1,000 characters of a comment as plain text, and nothing of a deleted comment', () => {
    expect(mailOf('comment.add').text).toContain('> Yes, please.');
    const quoteOf = (targetComment: object) => contentOf('comment.add', 'ada', { targetComment }).quote;
    expect(quoteOf({ commentText: 'x'.repeat(5_000) })).toBe(`${'x'.repeat(999)}…`);
    const commentHtml = '<style>p { color: red }</style><p>Tom &amp; <b>Ada</b></p><p>&#60;3</p>';
    expect(quoteOf({ commentText: '', commentHtml })).toBe('Tom & Ada\n<3');
    expect(contentOf('comment.delete').quote).toBeUndefined();
  });

  test.each<[what: string, url: unknown, link: string | undefined]>([
    ['an https URL', 'https://app.example.com/nda?x=1#c', 'https://app.example.com/nda?x=1#c'],
    ['an http URL', 'http://app.example.com', 'http://app.example.com/'],
    ['a script', 'javascript:alert(1)', undefined],
    ['a name before the host', 'https://app.example.com@evil.net/', undefined],
    ['a path', '/nda', undefined],
    ['a number', 7, undefined],
    ['a very long URL', `https://a.example/${'x'.repeat(3_000)}`, undefined],
  ])('links only to http(s) URLs without credentials: %s', (_what, url, link) => {
    const metadata = { document: { documentName: 'NDA', url } };
    expect(contentOf('comment.add', 'ada', { metadata }).link).toBe(link);
    expect(contentOf('comment.add', 'ada', { metadata: { pageInfo: { url } } }).link).toBe(link);
    expect(mailOf('comment.add', 'ada', { metadata }).html.includes('Open the document')).toBe(link !== undefined);
  });

  test('has one-click unsubscribe headers (RFC 8058) when the link is short enough', () => {
    expect(mailOf('comment.add').headers).toEqual({
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${unsubscribeLink}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(unsubscribeHeaders(`https://api.test/${'x'.repeat(900)}`)).toEqual({});
  });

  testProperty(
    'has a subject for any published data',
    [
      fc.constantFrom(...mailedTypes),
      fc.anything(),
      fc.object({
        key: fc.constantFrom(
          'actionUser',
          'commentAnnotation',
          'targetComment',
          'metadata',
          'name',
          'comments',
          'to',
          'newStatus',
        ),
      }),
    ],
    (event, anything, data) => {
      for (const content of [parseEventContent(anything), parseEventContent(data)]) {
        const { subject } = eventMail(eventMailContent(event, content, 'ada'), {
          to: 'ada@example.com',
          unsubscribeLink,
        });
        expect(subject).toMatch(/^\S.* \S/);
        expect(subject).not.toMatch(/undefined|\[object/);
      }
    },
  );

  test('has the same markup for any texts of users in every field of every type', () => {
    const user = (userId: string, text: string) => ({ userId, name: `n${text}`, email: `n${text}` });
    const shapeOf = (event: MailedType, userId: string, text: string) => {
      const comment = {
        commentText: `n${text}`,
        from: user('ada', text),
        to: [user('grace', text)],
        taggedUserContacts: [{ userId: 'linus', contact: user('linus', text) }],
        reactionAnnotations: [{ icon: `n${text}` }],
      };
      return markupOf(
        mailOf(event, userId, {
          actionUser: user('bob', text),
          commentAnnotation: { from: user('ada', text), assignedTo: user('grace', text), comments: [comment] },
          targetComment: comment,
          metadata: {
            organization: { organizationName: `n${text}` },
            document: { documentName: `n${text}`, url: `https://app.example.com/?${text.replace(/\s/g, '')}` },
          },
          newStatus: { id: 'x', name: `n${text}` },
          newPriority: `n${text}`,
        }).html,
      );
    };
    for (const event of mailedTypes)
      for (const userId of ['ada', 'grace', 'linus'])
        fc.assert(
          fc.property(markupText, (text) => {
            expect(shapeOf(event, userId, text)).toEqual(shapeOf(event, userId, ''));
          }),
          { numRuns: 5, examples: [['<img src=x onerror="alert(1)">\'&']] },
        );
  });

  testProperty('has a subject of one line for any names', [unicodeText(), unicodeText()], (name, documentName) => {
    const { subject } = contentOf('comment.add', 'ada', {
      actionUser: { userId: 'x', name },
      metadata: { document: { documentName } },
    });
    expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
    expect(Array.from(subject).length).toBeLessThan(300);
  });

  test("passes the same texts to a customer's template, with empty strings for missing values", () => {
    const data = templateData('comment.add', contentOf('comment.add', 'ada', { metadata: {} }), { unsubscribeLink });
    expect(data).toEqual({
      event: 'comment.add',
      subject: 'Ada Lovelace replied to you',
      headline: 'Ada Lovelace replied to you',
      actorName: 'Ada Lovelace',
      recipientName: '',
      commentText: 'Yes, please.',
      documentName: '',
      organizationName: '',
      link: '',
      why: 'You get this mail because you started this thread.',
      company: '',
      unsubscribeLink,
    });
  });
});

describe('mailAddressOf', () => {
  test('uses the address in the profile rather than the address in the event', () => {
    const content = parseEventContent(sampleEvent('comment_annotation.add', 'key').payload.data);
    expect(findPerson(content, 'grace')).toEqual({ name: 'Grace Hopper', email: 'grace@example.com' });
    expect(mailAddressOf({ email: 'profile@example.com' }, findPerson(content, 'grace'))).toBe('profile@example.com');
    expect(mailAddressOf(undefined, findPerson(content, 'grace'))).toBe('grace@example.com');
    expect(mailAddressOf({ email: 'call me' }, findPerson(content, 'nobody'))).toBeUndefined();
  });
});

describe('the plain text of a comment', () => {
  test('is cut between characters', () => {
    expect(oneLine('😀'.repeat(200), 10)).toBe(`${'😀'.repeat(9)}…`);
    expect(oneLine(' a\r\n\tb\u202ec ')).toBe('a bc');
    expect(toQuote('a\r\nb\0c\n\n\n\nd')).toBe('a\nb c\n\nd');
  });

  test('is extracted from HTML in linear time', () => {
    const pieces = ['<', '<a', '&', '&#', '</p'];
    const microseconds = (length: number) => {
      const since = process.cpuUsage();
      for (const piece of pieces) htmlToText(piece.repeat(length / piece.length));
      const { user, system } = process.cpuUsage(since);
      return user + system;
    };
    microseconds(32_768);
    const short = Math.min(...[1, 2, 3].map(() => microseconds(32_768)));
    // The long text is 16 times as long as the short one. Quadratic work would take 256 times as long. CPU time is
    // measured, because other load on the machine does not count as CPU time.
    const limit = 64 * Math.max(short, 2_000);
    expect([1, 2, 3].some(() => microseconds(16 * 32_768) < limit)).toBe(true);
  });

  test.each([
    ['&#x27;&hellip;&eacute;&AMP;&#1114112;&#55296;&nbsp;&unknown;', "'…é&\ufffd\ufffd &unknown;"],
    ['a<style>p > b { color: red }</style><script>if (1 < 2) alert("</p>")</script>b<title>c</title>', 'ab'],
    ['<p>One\n  line</p>\n<div><p>Two</p></div><ul><li>a</li><li>b<br>c</li></ul>', 'One line\nTwo\na\nb\nc\n'],
    ['<pre>a\n  b</pre>', 'a\n  b\n'],
    ['1 < 2, a<b, <!-- no --> <b title="a > b">c</b>', '1 < 2, a c'],
    ['<div>'.repeat(20_000), ''],
  ])('of %j is %j', (html, text) => {
    expect(htmlToText(html)).toBe(text);
  });
});

describe('mailbox', () => {
  test.each([
    [undefined, 'a@example.com'],
    ['Acme', '"Acme" <a@example.com>'],
    ['A "B" \\C', '"A \\"B\\" \\\\C" <a@example.com>'],
    ['Bücher', '=?UTF-8?B?QsO8Y2hlcg==?= <a@example.com>'],
    ['=?UTF-8?B?eA==?=', '=?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?= <a@example.com>'],
  ])('writes the name %j as %s', (name, expected) => expect(mailbox('a@example.com', name)).toBe(expected));

  testProperty(
    'splits any name into encoded words of at most 75 characters without splitting a character',
    [fc.string({ unit: 'grapheme', minLength: 1 })],
    (name) => {
      const words = encodedWords(`ü${name}`);
      expect(words.every((word) => word.length <= 75)).toBe(true);
      expect(words.map((word) => Buffer.from(word.slice(10, -2), 'base64').toString()).join('')).toBe(`ü${name}`);
    },
  );
});

describe('the mail to an owner', () => {
  const to = { to: 'owner@example.com', apiKeyName: 'Production <1>' };

  test.each([
    [1, 'A webhook endpoint has failed for a day'],
    [3, 'A webhook endpoint has failed for 3 days'],
    ['disabled', 'A webhook endpoint was disabled'],
  ] as const)('at stage %s has the subject %s', (stage, subject) => {
    const mail = ownerMail(
      {
        kind: 'endpointFailure',
        endpointId: 'ep_1',
        url: 'https://u:secret@hooks.example.com/in?key=secret',
        stage,
        failingSince: Date.UTC(2026, 0, 10, 9, 30),
      },
      to,
    );
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(
      'Every webhook to https://hooks.example.com/in (ep_1) has failed since 2026-01-10 09:30 UTC.',
    );
    if (stage !== 'disabled') expect(mail.text).toContain('until 2026-01-15 09:30 UTC');
    for (const form of [mail.text, mail.html]) expect(form).not.toContain('secret');
    expect(mail.html).toContain('Production &#60;1&#62;');
  });

  test('explains that the provider rejects mails and how to correct it', () => {
    const mail = ownerMail({ kind: 'providerFailure', reason: 'SendGrid answered 401' }, to);
    expect(mail.text).toContain('SendGrid answered 401');
    expect(mail.text).toContain('/v2/workspace/emailconfig/update');
  });
});
