import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { json } from 'node:stream/consumers';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import type { MailSender, OutgoingMail } from '../../../lib/mail/senders/sender.ts';
import { SendGridSender } from '../../../lib/mail/senders/sendGrid.ts';
import { SesSender, sesSender } from '../../../lib/mail/senders/ses.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';

const NOW = Date.UTC(2026, 0, 15);
const mail: OutgoingMail = {
  to: 'ada@example.com',
  toName: 'Ada',
  subject: 'Bob commented',
  text: 'plain',
  html: '<p>rich</p>',
  headers: { 'List-Unsubscribe': '<https://api.test/u>' },
  mailId: 'mail_1',
  sender: { name: 'Bücher & Co', address: 'hello@customer.example' },
};

interface Request {
  readonly url: string | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: any;
}

let requests: Request[];
let answer: { status: number; headers?: Record<string, string>; body?: object };
let provider: Receiver;
beforeEach(async () => {
  requests = [];
  answer = { status: 202, headers: { 'x-message-id': 'sg-1' } };
  provider = await startHttp(
    (request, response) =>
      void (async () => {
        requests.push({ url: request.url, headers: request.headers, body: await json(request) });
        response.writeHead(answer.status, answer.headers).end(answer.body && JSON.stringify(answer.body));
      })(),
  );
});
afterEach(() => provider.stop());

/** Returns a URL on which no server listens. */
async function nowhere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

/** Starts a provider that breaks the connection while it receives a request. */
async function dropping(): Promise<Receiver> {
  return startHttp((request) => request.on('data', () => request.socket.destroy()));
}

describe('SendGridSender', () => {
  const sender = (base = provider.url) =>
    new SendGridSender({ apiKey: 'SG.key', from: { email: 'notes@customer.example', name: 'Acme' } }, base, () => NOW);

  test('sends the mail in the format of the v3 API, with the key and the mail id', async () => {
    expect(await sender().send(mail)).toEqual({ outcome: 'sent', messageId: 'sg-1' });
    const [{ url, headers, body }] = requests as [Request];
    expect(url).toBe('/v3/mail/send');
    expect(headers).toMatchObject({ authorization: 'Bearer SG.key', 'content-type': 'application/json' });
    expect(body).toEqual({
      personalizations: [{ to: [{ email: 'ada@example.com', name: 'Ada' }] }],
      from: { email: 'notes@customer.example', name: 'Acme' },
      subject: 'Bob commented',
      // SendGrid requires the plain text to come first.
      content: [
        { type: 'text/plain', value: 'plain' },
        { type: 'text/html', value: '<p>rich</p>' },
      ],
      headers: { 'List-Unsubscribe': '<https://api.test/u>' },
      custom_args: { mailId: 'mail_1' },
    });
  });

  test("uses the customer's template when the mail has one", async () => {
    await sender().send({ ...mail, template: { id: 'd-1', data: { headline: 'Bob commented' } } });
    const [{ body }] = requests as [Request];
    expect(body).toMatchObject({
      template_id: 'd-1',
      personalizations: [{ to: [{ email: 'ada@example.com' }], dynamic_template_data: { headline: 'Bob commented' } }],
    });
    expect(body).not.toHaveProperty('content');
    expect(body).not.toHaveProperty('subject');
  });

  test.each<[status: number, result: object]>([
    [400, { outcome: 'failed', retry: false }],
    [413, { outcome: 'failed', retry: false }],
    [301, { outcome: 'failed', retry: false }],
    [401, { outcome: 'denied' }],
    [403, { outcome: 'denied' }],
    [500, { outcome: 'failed', retry: true }],
    [503, { outcome: 'failed', retry: true }],
    [429, { outcome: 'throttled', retryAfterSeconds: 0 }],
  ])('returns for the answer %i: %j', async (status, result) => {
    answer = {
      status,
      headers: { location: 'http://169.254.169.254/' },
      body: { errors: [{ message: 'about ada@example.com' }] },
    };
    const outcome = await sender().send(mail);
    expect(outcome).toEqual({ ...result, reason: `SendGrid answered ${status}` });
    expect(requests).toHaveLength(1);
  });

  test.each([
    [String(NOW / 1000 + 42), 42],
    [String(NOW / 1000 - 5), 0],
    ['soon', 0],
  ])('returns the pause from X-RateLimit-Reset: %s', async (reset, retryAfterSeconds) => {
    answer = { status: 429, headers: { 'x-ratelimit-reset': reset } };
    expect(await sender().send(mail)).toMatchObject({ outcome: 'throttled', retryAfterSeconds });
  });

  test('reports a mail as retryable when it was not sent, and the result as unknown when no answer arrives', async () => {
    expect(await sender(await nowhere()).send(mail)).toMatchObject({
      outcome: 'failed',
      retry: true,
      reason: 'not connected: ECONNREFUSED',
    });
    const silent = await dropping();
    expect(await sender(silent.url).send(mail)).toMatchObject({ outcome: 'unknown' });
    expect(silent.connections()).toBe(1);
    await silent.stop();
  });

  test('opens a new connection for each mail', async () => {
    for (let i = 0; i < 3; i++) await sender().send(mail);
    expect(provider.connections()).toBe(3);
  });
});

describe('SesSender', () => {
  const client = (endpoint: string) =>
    new SESv2Client({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      maxAttempts: 1,
      // Only requests that never get an answer need a short time-out. All others have enough time for a slow machine.
      requestHandler: {
        connectionTimeout: 120_000,
        requestTimeout: endpoint === provider.url ? 120_000 : 300,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: false },
      },
    });
  const sender = (base = provider.url): MailSender => new SesSender('no-reply@operator.example', () => client(base));
  const exception = (status: number, name: string) => ({
    status,
    headers: { 'x-amzn-errortype': name, 'content-type': 'application/json' },
    body: { message: 'about ada@example.com' },
  });

  test("sends from the operator's address with the customer's name and reply address", async () => {
    answer = { status: 200, body: { MessageId: 'ses-1' } };
    expect(await sender().send(mail)).toEqual({ outcome: 'sent', messageId: 'ses-1' });
    const [{ body }] = requests as [Request];
    expect(body).toMatchObject({
      FromEmailAddress: '=?UTF-8?B?QsO8Y2hlciAmIENv?= <no-reply@operator.example>',
      ReplyToAddresses: ['hello@customer.example'],
      Destination: { ToAddresses: ['ada@example.com'] },
      EmailTags: [{ Name: 'mailId', Value: 'mail_1' }],
      Content: {
        Simple: {
          Subject: { Data: 'Bob commented' },
          Headers: [{ Name: 'List-Unsubscribe', Value: '<https://api.test/u>' }],
        },
      },
    });
  });

  test('sends from the operator only when the customer has set no name or address', async () => {
    answer = { status: 200, body: { MessageId: 'ses-1' } };
    await sender().send({ ...mail, sender: {} });
    expect(requests[0]!.body).toMatchObject({ FromEmailAddress: 'no-reply@operator.example' });
    expect(requests[0]!.body).not.toHaveProperty('ReplyToAddresses');
  });

  test.each<[status: number, name: string, result: object]>([
    [429, 'TooManyRequestsException', { outcome: 'throttled' }],
    [400, 'LimitExceededException', { outcome: 'throttled' }],
    [400, 'ThrottlingException', { outcome: 'throttled' }],
    [400, 'MessageRejected', { outcome: 'failed', retry: false }],
    [400, 'BadRequestException', { outcome: 'failed', retry: false }],
    // These errors are retried, because the operator can remove their cause.
    [400, 'SendingPausedException', { outcome: 'failed', retry: true }],
    [403, 'AccessDeniedException', { outcome: 'failed', retry: true }],
    [500, 'InternalServiceErrorException', { outcome: 'failed', retry: true }],
  ])('returns for the answer %i %s after one attempt: %j', async (status, name, result) => {
    answer = exception(status, name);
    expect(await sender().send(mail)).toEqual({ ...result, reason: name });
    expect(requests).toHaveLength(1);
  });

  test('retries a mail if SES says that an identity is not verified, and keeps no address of the message', async () => {
    const reason = 'Email address is not verified';
    const { headers } = exception(400, 'MessageRejected');
    const message = `${reason}. The following identities failed the check in region US-EAST-1: ada@example.com`;
    answer = { status: 400, headers, body: { message } };
    expect(await sender().send(mail)).toEqual({ outcome: 'failed', retry: true, reason });
  });

  test('reports a mail as retryable when it was not sent, and the result as unknown when no answer arrives', async () => {
    // In Jest, the SDK does not recognise errors of Node.js and loses their codes. So a stub throws the error.
    const refused = new SesSender('no-reply@operator.example', () => ({
      send: () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
    }));
    expect(await refused.send(mail)).toMatchObject({
      outcome: 'failed',
      retry: true,
      reason: 'not connected: ECONNREFUSED',
    });
    const silent = await dropping();
    expect(await sender(silent.url).send(mail)).toMatchObject({ outcome: 'unknown' });
    expect(silent.connections()).toBe(1);
    await silent.stop();
    const hanging = await startHttp(() => undefined);
    expect(await sender(hanging.url).send(mail)).toMatchObject({ outcome: 'unknown' });
    await hanging.stop();
  });

  test('does not exist unless the operator has set mailFrom', () => {
    const open = (MAIL_FROM: string) => sesSender.open(environment({ MAIL_FROM, AWS_REGION: 'us-east-1' }));
    expect(open('no-reply@example.com')).toBeInstanceOf(SesSender);
    expect(open('')).toBeUndefined();
  });
});
