import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { worker as sendEmailWorker } from '../../../functions/workers/sendEmail.ts';
import { environment } from '../../../lib/app/capability.ts';
import { deriveKey, sealBytes } from '../../../lib/crypto/sealing.ts';
import { unsubscribeLinks } from '../../../lib/mail/unsubscribeLinks.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { openLink, type PageAnswer } from '../../support/email.ts';
import { handlerOf, workerHandler } from '../../support/functionHandlers.ts';
import { everyItem } from '../../support/items.ts';
import { MailSystem } from '../../support/mailSystem.ts';
import { eventOf } from '../../support/requests.ts';
import { addThreads, comment, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { otherSpellings } from '../../support/tokenSpellings.ts';
import { lambdaContext, messagesEvent } from '../../support/workers.ts';

const unsubscribePage = handlerOf('/v2/notifications/email/unsubscribe');
const sendEmail = workerHandler(sendEmailWorker);

const { engine, customer, itemsOf } = acmeWorld({ documents: ['nda'] });
afterEach(() => {
  jest.restoreAllMocks();
});

const open = (token: string | undefined, method = 'GET') => openLink(token, { method, handler: unsubscribePage });
/** Sends the request of a mail program's unsubscribe button (RFC 8058). */
const oneClick = (token: string | undefined) => open(token, 'POST');
const tokenFor = async (userId: string, organizationId: string = nda.organizationId) =>
  tokenOf(
    await unsubscribeLinks.open(environment(process.env)).linkFor({ tenant: customer.apiKey, organizationId, userId }),
  );
const tokenOf = (link: string) => new URL(link).searchParams.get('token')!;
const config = async (userId: string, documentIds?: string[]) =>
  (
    await customer.ok('/v2/notifications/config/get', {
      organizationId: nda.organizationId,
      userId,
      documentIds,
      getOrganizationConfig: documentIds === undefined,
    })
  )[0].config;
const addUsers = (...userIds: string[]) =>
  customer.addUsers(
    userIds.map((userId) => ({ userId, email: `${userId}@example.com` })),
    nda,
  );
const set = (userId: string, levels: object, documentIds?: string[]) =>
  customer.ok('/v2/notifications/config/set', {
    organizationId: nda.organizationId,
    userIds: [userId],
    config: levels,
    documentIds,
  });

describe('GET /v2/notifications/email/unsubscribe', () => {
  test('shows the organization and one button that posts to the same address', async () => {
    await customer.ok('/v2/organizations/add', {
      organizations: [{ organizationId: 'named', organizationName: 'Acme <Inc>' }],
    });
    const token = await tokenFor('grace', 'named');
    const { status, html } = await open(token);
    expect(status).toBe(200);
    expect(html).toContain('<strong>Acme &#60;Inc&#62;</strong>');
    expect(html).toContain(`<form method="post" action="unsubscribe?token=${token}"><button>`);
  });

  test('changes nothing, so that mail scanners may open the link', async () => {
    await addUsers('grace');
    const token = await tokenFor('grace');
    const before = await everyItem(engine);
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) expect((await open(token, method)).status).toBe(200);
    for (const method of ['PUT', 'DELETE', 'OPTIONS']) expect((await open(token, method)).status).toBe(405);
    expect(await everyItem(engine)).toEqual(before);
  });
});

describe('POST /v2/notifications/email/unsubscribe', () => {
  test("sets the user's e-mail level in the organization to NONE, and no other level", async () => {
    await addUsers('grace', 'linus');
    await set('grace', { inbox: 'MINE', slack: 'ALL' });
    const { status, html } = await oneClick(await tokenFor('grace'));
    expect(status).toBe(200);
    expect(html).toContain('You are unsubscribed');
    expect(await config('grace')).toEqual({ inbox: 'MINE', email: 'NONE', slack: 'ALL' });
    expect(await config('linus')).toMatchObject({ email: 'ALL' });
  });

  test('accepts any body: form, multipart or none', async () => {
    await addUsers('grace');
    for (const body of [
      'List-Unsubscribe=One-Click',
      '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--',
      undefined,
    ]) {
      await set('grace', { email: 'ALL' });
      const event = eventOf(body, {}, { queryStringParameters: { token: await tokenFor('grace') } });
      expect((await unsubscribePage(event, { awsRequestId: 'aws' } as never)).statusCode).toBe(200);
      expect(await config('grace')).toMatchObject({ email: 'NONE' });
    }
  });

  test('overrides the levels of all documents, until the customer sets a level again', async () => {
    await addUsers('grace');
    const documents = times(60, (index) => ({ documentId: `doc-${index}` }));
    await customer.addDocuments(documents);
    for (const documentIds of [documents.slice(0, 30), documents.slice(30)])
      await set(
        'grace',
        { email: 'ALL', inbox: 'MINE' },
        documentIds.map(({ documentId }) => documentId),
      );
    await set('grace', { inbox: 'NONE' }, ['nda']);
    await oneClick(await tokenFor('grace'));
    for (const documentId of ['doc-0', 'doc-59'])
      expect(await config('grace', [documentId])).toEqual({ inbox: 'MINE', email: 'NONE' });
    expect(await config('grace', ['nda'])).toEqual({ inbox: 'NONE', email: 'NONE' });
    expect((await itemsOf('NotificationSettings')).filter(({ email }) => email !== 'NONE')).toHaveLength(1);
    await set('grace', { email: 'MINE' });
    expect(await config('grace')).toMatchObject({ email: 'MINE' });
  });

  test('succeeds for an unknown user and for concurrent and repeated requests', async () => {
    const token = await tokenFor('guest');
    const answers = await Promise.all(times(10, () => oneClick(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const [former, ...more] = await itemsOf('NotificationSettings');
    expect([former!.email, more, (await oneClick(token)).status]).toEqual(['NONE', [], 200]);
    // A purge that read the former levels must keep those that are stored after a removal.
    await table.removeKeys([{ PK: former!.PK, SK: former!.SK }]);
    await oneClick(token);
    const [current] = await itemsOf('NotificationSettings');
    expect(current!._r).not.toBe(former!._r);
  });

  test('stores nothing for a deleted organization', async () => {
    expect((await oneClick(await tokenFor('grace', 'gone'))).status).toBe(200);
    expect(await itemsOf('NotificationSettings')).toEqual([]);
  });

  test('accepts a token that was issued five years ago', async () => {
    await addUsers('grace');
    const token = await tokenFor('grace');
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 5 * 365 * 86_400_000);
    expect((await oneClick(token)).status).toBe(200);
    jest.restoreAllMocks();
    expect(await config('grace')).toMatchObject({ email: 'NONE' });
  });
});

describe('an unsubscribe token', () => {
  const expectUnknown = ({ status, html }: PageAnswer) =>
    expect({ status, known: html.includes('does not work') }).toEqual({ status: 410, known: true });

  test('is rejected if it is another text, has another key version or spelling, or a changed bit', async () => {
    const token = await tokenFor('grace');
    const [version, sealed = ''] = token.split('.');
    const bytes = Buffer.from(sealed, 'base64url');
    const flipped = times(Math.ceil(bytes.length / 7), (index) => {
      const changed = Buffer.from(bytes);
      changed[7 * index]! ^= 1;
      return `${version}.${changed.toString('base64url')}`;
    });
    for (const other of [undefined, '', '1', '1.', `2.${sealed}`, sealed, `constructor.${sealed}`, 'x'.repeat(20_000)])
      expectUnknown(await open(other));
    for (const other of [undefined, '"><script>alert(1)</script>', ...flipped, ...otherSpellings(token)])
      expectUnknown(await oneClick(other));
    expect(await itemsOf('NotificationSettings')).toEqual([]);
  });

  test('is rejected if its key is derived from the version instead of a secret', async () => {
    const forged = sealBytes(
      deriveKey('1', ['unsubscribe']),
      Buffer.from(JSON.stringify([customer.apiKey, 'acme', 'grace'])),
      ['unsubscribe'],
    );
    expectUnknown(await oneClick(`current.${forged.toString('base64url')}`));
  });

  test('does not reveal the user, the organization or the API key', async () => {
    const [firstToken, secondToken] = [await tokenFor('grace'), await tokenFor('grace')];
    expect(firstToken).not.toBe(secondToken);
    expect(Buffer.from(firstToken.split('.')[1]!, 'base64url').toString('latin1')).not.toMatch(/grace|acme|key_/);
  });
});

describe('the mail worker and the unsubscribe link', () => {
  test('sends both unsubscribe headers through SES, and no mail after the link was used', async () => {
    const system = new MailSystem(engine, customer);
    await addUsers('grace');
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
    const mentioning = comment({ taggedUserContacts: [{ userId: 'grace' }], triggerNotification: true });
    const addMention = (annotationId: string) =>
      addThreads(customer, [thread(annotationId, { commentData: [mentioning] })]);
    const work = async () => {
      await system.fanOut();
      return sendEmail(messagesEvent(system.queue.splice(0).map(({ body }) => body)), lambdaContext());
    };
    await addMention('first');
    expect(await work()).toEqual({ batchItemFailures: [] });
    expect(engine.mails).toHaveLength(1);
    const [{ from, to, headers }] = engine.mails as [any];
    expect({ from, to }).toEqual({ from: 'no-reply@example.com', to: ['grace@example.com'] });
    expect(headers).toMatchObject({ 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });

    expect((await oneClick(tokenOf(headers['List-Unsubscribe'].slice(1, -1)))).status).toBe(200);
    await addMention('second');
    await work();
    expect(engine.mails).toHaveLength(1);
  });

  test('throws on errors of the table, so that SQS redelivers the message', async () => {
    jest.spyOn(table, 'get').mockRejectedValueOnce(new Error('out of order'));
    const answer = await sendEmail(
      messagesEvent([
        { tenant: customer.apiKey, mailId: 'mail_1' },
        { tenant: customer.apiKey, mailId: 'mail_2' },
      ]),
      lambdaContext(),
    );
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'message-0' }] });
  });
});
