import { describe, expect, test } from '@jest/globals';
import { channelPost, digestMessage, directMessage } from '../../../lib/chat/rendering/slackMessages.ts';
import { digestContent, type DigestEntry } from '../../../lib/mail/rules/digestContent.ts';
import {
  type EventMailContent,
  eventMailContent,
  parseEventContent,
} from '../../../lib/mail/rules/eventMailContent.ts';
import { times } from '../../support/times.ts';

const content = (fields: Partial<EventMailContent> = {}): EventMailContent => ({
  subject: 'Ada mentioned you in NDA',
  headline: 'Ada mentioned you',
  actorName: 'Ada',
  documentName: 'NDA',
  organizationName: 'Acme',
  quote: 'Is this right?',
  link: 'https://app.example/nda',
  why: 'You get this mail because you were mentioned.',
  mentioned: true,
  ...fields,
});

describe('directMessage', () => {
  test('has the headline, the place, the quote and the link', () => {
    expect(directMessage(content()).text).toBe(
      '*Ada mentioned you*\nNDA · Acme\n> Is this right?\n<https://app.example/nda|Open the document>',
    );
  });

  test('leaves out what the event does not have', () => {
    const nothing = { documentName: undefined, organizationName: undefined, quote: undefined, link: undefined };
    expect(directMessage(content(nothing)).text).toBe('*Ada mentioned you*');
  });

  test('escapes texts of users, so that they cannot notify a channel or hide a link', () => {
    const { text } = directMessage(
      content({
        headline: 'A*d*a <!channel> mentioned you',
        documentName: '<https://evil.example|NDA>',
        quote: '<!here> & <@U1>\n> second',
        link: 'https://app.example/?a=1&b=|x',
      }),
    );
    expect(text.split('\n')).toEqual([
      '*A∗d∗a &lt;!channel&gt; mentioned you*',
      '&lt;https://evil.example|NDA&gt; · Acme',
      '> &lt;!here&gt; &amp; &lt;@U1&gt;',
      '> &gt; second',
      '<https://app.example/?a=1&amp;b=%7Cx|Open the document>',
    ]);
  });
});

describe('channelPost', () => {
  test('of a public document has the text of the comment', () => {
    expect(channelPost(content(), undefined).text).toContain('> Is this right?');
  });

  test('of a restricted document has only the fact and the link', () => {
    expect(channelPost(content(), 'Ada commented').text).toBe(
      '*Ada commented*\n_In a document with restricted access_\n<https://app.example/nda|Open the document>',
    );
  });
});

describe('digestMessage', () => {
  const entry = (n: number, fields: Partial<DigestEntry> = {}): DigestEntry => ({
    event: 'comment.add',
    at: Date.UTC(2026, 0, 2, 3, 4) + n * 60_000,
    documentId: 'nda',
    annotationId: 'a',
    content: content({ headline: `Bob replied ${n}`, mentioned: false, quote: `Quote ${n}` }),
    ...fields,
  });

  test('lists the activities of a document, oldest first, with one link', () => {
    const { text } = digestMessage(digestContent([entry(1), entry(0)]));
    expect(text.split('\n')).toEqual([
      '*2 comments*',
      'NDA · Acme',
      '• Bob replied 0 (<!date^1767323040^{date_short_pretty} {time}|2026-01-02 03:04 UTC>)',
      '> Quote 0',
      '• Bob replied 1 (<!date^1767323100^{date_short_pretty} {time}|2026-01-02 03:05 UTC>)',
      '> Quote 1',
      '<https://app.example/nda|Open the document>',
    ]);
  });

  test('names each of several documents, and says how many activities it does not show', () => {
    const offer = entry(50, { documentId: 'offer', content: undefined });
    const other = entry(0, { documentId: 'plan', content: content({ documentName: 'Plan', link: undefined }) });
    const { text } = digestMessage(digestContent([...times(29, (n) => entry(n + 1)), other, offer]));
    expect(text).toContain('\n*NDA*\n');
    expect(text).toContain('\n*Plan*\n');
    expect(text).toMatch(/And 1 more, which this message does not show\.$/);
  });

  test('stays below the length that Slack cuts, with the longest texts', () => {
    const long = '<&>'.repeat(400);
    const comment = { from: { userId: 'u', name: long }, commentText: long };
    const event = parseEventContent({
      targetComment: comment,
      actionUser: comment.from,
      metadata: { document: { documentName: long, url: `https://app.example/${'&'.repeat(1_900)}` } },
    });
    const longest = eventMailContent('comment.add', event, 'ada');
    const entries = times(30, (n) => entry(n, { documentId: `d${n}`, content: longest }));
    const { text } = digestMessage(digestContent(entries));
    expect(text.length).toBeLessThan(40_000);
    expect(text).toMatch(/\n…$/);
  });
});
