import { describe, expect, test } from '@jest/globals';
import { digestMail, digestTemplateData } from '../../../lib/mail/rendering/digestMail.ts';
import { eventMail } from '../../../lib/mail/rendering/eventMail.ts';
import { loginLinkMail } from '../../../lib/mail/rendering/loginLinkMail.ts';
import { digestContent, type DigestEntry } from '../../../lib/mail/rules/digestContent.ts';
import type { EventMailContent } from '../../../lib/mail/rules/eventMailContent.ts';
import { markupOf, markupText, tagsOf } from '../../support/markup.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const START = Date.UTC(2026, 0, 15, 9, 30);
const link = 'https://app.example.com/nda';
const unsubscribeLink = 'https://api.test/v2/notifications/email/unsubscribe?token=1.a&b';
const to = { to: 'grace@example.com', unsubscribeLink };

const comment: EventMailContent = {
  subject: 'Ada commented in NDA',
  headline: 'Ada commented',
  actorName: 'Ada',
  documentName: 'NDA',
  organizationName: 'Acme',
  quote: 'Yes, please.',
  link,
  why: 'You get this mail because you take part in this.',
  mentioned: false,
};
/** An entry of this minute. */
const entry = (
  minute: number,
  content: Partial<EventMailContent> = {},
  of: Partial<DigestEntry> = {},
): DigestEntry => ({
  event: 'comment.add',
  at: START + minute * 60_000,
  documentId: 'nda',
  annotationId: 'thread',
  content: { ...comment, ...content },
  ...of,
});
const mention = (actorName = 'Ada', of: Partial<DigestEntry> = {}) =>
  entry(0, { actorName, headline: `${actorName} mentioned you`, mentioned: true }, of);
const counted = (of: Partial<DigestEntry> = {}) => entry(9, {}, { content: undefined, ...of });
const reaction = { event: 'comment.reaction_add' };
const statusChange = { event: 'comment_annotation.status_change' };
const pricing = { documentId: 'pricing' };
const many = (count: number, of: (index: number) => DigestEntry = entry) =>
  Array.from({ length: count }, (_, i) => of(i));

describe('the subject of a digest', () => {
  test.each<[subject: string, entries: DigestEntry[]]>([
    ['3 comments in NDA', many(3)],
    ['1 comment in NDA', [entry(0)]],
    ['2 comments in 2 documents', [entry(0), entry(1, {}, pricing)]],
    ['2 comments', [entry(0, { documentName: undefined }), entry(1, { documentName: undefined })]],
    ['2 comments in New name', [entry(1, { documentName: 'New name' }), entry(0, { documentName: 'Old name' })]],
    ['2 comments and 1 reaction in NDA', [entry(0), entry(1, {}, reaction), entry(2)]],
    ['1 comment and 2 updates in NDA', [entry(0), entry(1, {}, reaction), entry(2, {}, statusChange)]],
    ['2 updates in NDA', [entry(0, { mentioned: true }, statusChange), entry(1, {}, statusChange)]],
    ['Ada mentioned you, and 1 more comment in NDA', [entry(1), mention()]],
    ['Ada mentioned you, and 2 more updates in NDA', [mention(), entry(1), entry(2, {}, reaction)]],
    ['Ada mentioned you, and 2 more reactions in NDA', [mention(), entry(1, {}, reaction), entry(2, {}, reaction)]],
    ['Ada mentioned you 3 times in NDA', many(3, () => mention())],
    ['Ada and Linus mentioned you in NDA', [mention(), mention('Linus')]],
    ['Ada and 2 others mentioned you in NDA', [mention(), mention('Linus'), mention('Barbara')]],
    ['Ada mentioned you, and 1 more comment in 2 documents', [mention(), counted(pricing)]],
    ['Ada mentioned you, and 40 more comments in NDA', [mention(), ...many(40)]],
  ])('is "%s"', (subject, entries) => {
    expect(digestContent(entries).subject).toBe(subject);
  });
});

describe('the entries of a digest', () => {
  const shape = (entries: readonly DigestEntry[]) =>
    digestContent(entries).documents.map(({ documentId, threads }) => [
      documentId,
      ...threads.map(({ annotationId, lines }) => [annotationId, ...lines.map(({ at }) => (at - START) / 60_000)]),
    ]);

  test('are grouped by document, then thread, each in the order of its oldest entry', () => {
    const second = { annotationId: 'second' };
    const entries = [
      entry(5, {}, second),
      entry(4),
      entry(3, {}, pricing),
      entry(2, {}, second),
      entry(1, {}, pricing),
    ];
    expect(shape(entries)).toEqual([
      ['pricing', ['thread', 1, 3]],
      ['nda', ['second', 2, 5], ['thread', 4]],
    ]);
  });

  test('are shown if they have content and are among the 30 oldest, and otherwise counted', () => {
    const { documents, more } = digestContent([...many(45).reverse(), counted({ at: START })]);
    expect(documents[0]!.threads[0]!.lines.map(({ at }) => (at - START) / 60_000)).toEqual([...Array(30).keys()]);
    expect(more).toBe(16);
  });

  test.each<[what: string, links: [string | undefined, string | undefined], of: unknown]>([
    ['the document', [link, link], { link, threads: [{ link: undefined }, { link: undefined }] }],
    ['the document', [link, undefined], { link, threads: [{ link: undefined }, { link: undefined }] }],
    ['each thread', [link, `${link}/2`], { link: undefined, threads: [{ link }, { link: `${link}/2` }] }],
    ['nothing', [undefined, undefined], { link: undefined, threads: [{}, {}] }],
  ])('have a link of %s for the links %j of two threads', (_what, [first, second], expected) => {
    const [document] = digestContent([
      entry(0, { link: first }),
      entry(1, { link: second }, { annotationId: 'x' }),
    ]).documents;
    expect(document).toMatchObject(expected as object);
  });

  test('quote at most 280 characters in one line', () => {
    const { documents } = digestContent([entry(0, { quote: `a\n\nb ${'x'.repeat(1_000)}` })]);
    expect(documents[0]!.threads[0]!.lines[0]!.quote).toBe(`a b ${'x'.repeat(275)}…`);
  });
});

describe('the mail of a digest', () => {
  const mail = digestMail(
    digestContent([
      mention(),
      entry(1, { headline: 'Linus replied', actorName: 'Linus', quote: undefined }),
      entry(2, { documentName: 'Pricing', link: undefined }, pricing),
      ...many(30, () => counted()),
    ]),
    to,
  );

  test('has a plain text with everything that it shows', () => {
    expect(mail).toMatchObject({
      to: 'grace@example.com',
      subject: 'Ada mentioned you, and 32 more comments in 2 documents',
    });
    expect(mail.text).toBe(
      [
        'Ada mentioned you, and 32 more comments',
        'Acme',
        '== NDA ==',
        'Ada mentioned you (2026-01-15 09:30 UTC)\n> Yes, please.',
        'Linus replied (2026-01-15 09:31 UTC)',
        `Open the document: ${link}`,
        '== Pricing ==',
        'Ada commented (2026-01-15 09:32 UTC)\n> Yes, please.',
        'And 30 more, which this mail does not show.',
        '-- ',
        `You get this mail because you were mentioned or take part in these conversations.\nGet no more of these mails: ${unsubscribeLink}`,
        '',
      ].join('\n\n'),
    );
  });

  test('has the same in HTML, and one unsubscribe link in each part', () => {
    const texts = mail.text.split(/\n+> |\n+| \(|\)/).filter((text) => !/^(==|--|Open|Get no)|http|^$/.test(text));
    for (const text of [...texts, 'NDA', 'Pricing']) expect(mail.html).toContain(`>${text}`);
    expect(mail.html.split(`href="${unsubscribeLink.replace('&', '&#38;')}"`)).toHaveLength(2);
    expect(mail.html.split(`href="${link}"`)).toHaveLength(2);
    expect(mail.text.split(unsubscribeLink)).toHaveLength(2);
    expect(mail.headers).toEqual({
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${unsubscribeLink}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
  });

  test('has the name of its only document above the headline, and no number of entries that are not shown', () => {
    const { text, html } = digestMail(digestContent(many(2)), to);
    expect(text).toMatch(/^2 comments\n\nNDA · Acme\n\nAda commented/);
    expect(`${text}${html}`).not.toMatch(/==|<h2|more, which/);
  });

  test('has a title for a document without a name, and for entries without a document', () => {
    const unnamed = { documentName: undefined };
    const { text } = digestMail(digestContent([entry(0, unnamed), entry(1, unnamed, { documentId: undefined })]), to);
    expect(text).toContain('== A document without a name ==');
    expect(text).toContain('== Without a document ==');
  });

  test.each<[preview: string, entries: DigestEntry[]]>([
    ['Yes, please.', [entry(0, { quote: 'No.' }), mention('Ada', { at: START + 1 })]],
    ['First.', [entry(0, { quote: undefined }), entry(1, { quote: 'First.' }), entry(2)]],
    ['NDA · Acme', [entry(0, { quote: undefined }), entry(1, { quote: undefined })]],
  ])('has the preview "%s": a mention, otherwise the oldest comment, otherwise the place', (preview, entries) => {
    const { html } = digestMail(digestContent(entries), to);
    expect(/<div style="display:none[^>]*>([^<]*)/.exec(html)?.[1]).toBe(preview);
  });

  const texts = (text: string): Partial<EventMailContent> => ({
    headline: `n${text}`,
    actorName: `n${text}`,
    documentName: `n${text}`,
    organizationName: `n${text}`,
    quote: `n${text}`,
    link: `${link}?${text}`,
    mentioned: true,
  });
  const shapeOf = (text: string) =>
    markupOf(digestMail(digestContent([entry(0, texts(text)), entry(1, texts(text), pricing)]), to).html);

  testProperty('has the same markup for any text of a user', [markupText], (text) => {
    expect(shapeOf(text)).toEqual(shapeOf(''));
  });

  testProperty('has a quote of one line for any text', [unicodeText()], (text) => {
    const { documents } = digestContent([entry(0, { quote: text })]);
    expect(documents[0]!.threads[0]!.lines[0]!.quote ?? '').not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
  });

  test("passes the same texts to a customer's template, with empty strings for missing values", () => {
    const entries = [
      mention(),
      entry(1, { documentName: undefined, quote: undefined, link: undefined }, { ...pricing, ...reaction }),
      counted(),
    ];
    expect(digestTemplateData(digestContent(entries), { company: 'Acme Inc.', unsubscribeLink })).toEqual({
      event: 'digest',
      subject: 'Ada mentioned you, and 2 more updates in 2 documents',
      headline: 'Ada mentioned you, and 2 more updates',
      recipientName: '',
      organizationName: 'Acme',
      documents: [
        {
          documentName: 'NDA',
          link,
          threads: [
            {
              link,
              entries: [
                {
                  event: 'comment.add',
                  time: '2026-01-15T09:30:00.000Z',
                  headline: 'Ada mentioned you',
                  actorName: 'Ada',
                  commentText: 'Yes, please.',
                  mentioned: true,
                },
              ],
            },
          ],
        },
        {
          documentName: '',
          link: '',
          threads: [
            {
              link: '',
              entries: [
                {
                  event: 'comment.reaction_add',
                  time: '2026-01-15T09:31:00.000Z',
                  headline: 'Ada commented',
                  actorName: 'Ada',
                  commentText: '',
                  mentioned: false,
                },
              ],
            },
          ],
        },
      ],
      more: 1,
      why: 'You get this mail because you were mentioned or take part in these conversations.',
      company: 'Acme Inc.',
      unsubscribeLink,
    });
  });
});

const mails = {
  'of a digest': digestMail(digestContent([mention(), entry(1, { link: `${link}/2` }, { annotationId: 'x' })]), to),
  'about an event': eventMail(comment, to),
  'with a login link': loginLinkMail({ to: 'ada@example.com', link }),
};

test.each(Object.entries(mails))('the mail %s has a dark colour for each light one', (_what, { html }) => {
  const dark = /prefers-color-scheme: dark\) \{([^]*?)<\/style>/.exec(html)![1]!;
  const coloured = tagsOf(html).filter((tag) => /style="[^"]*#[0-9a-f]{6}/.test(tag));
  expect(coloured.length).toBeGreaterThan(3);
  for (const tag of coloured) {
    const [, name] = /class="(\w+)/.exec(tag) ?? [];
    const rule = new RegExp(`\\.${name} \\{([^}]*)`).exec(dark)?.[1];
    for (const [, property] of tag.matchAll(/[";](color|background|border(?!-radius))/g))
      expect(rule).toContain(property);
  }
});
