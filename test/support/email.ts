import type { Handler } from '../../lib/http/stack.ts';
import type { Engine } from './engine.ts';
import { handlerOf } from './functionHandlers.ts';
import { eventOf, post, resultOf } from './requests.ts';
import type { TestWorkspace } from './workspaces.ts';

const sendLoginLink = handlerOf('/v2/workspace/email/send-login-link');
const verificationPage = handlerOf('/v2/workspace/email/verify');

/** A page of the service. Login links are always allowed to redirect to it. */
export const CONTINUE_URL = 'https://api.test/welcome';

/** Mails a login link to the owner of a workspace. Returns the token in the link. */
export async function mailedToken(
  engine: Engine,
  { ownerEmail }: TestWorkspace,
  continueUrl = CONTINUE_URL,
): Promise<string> {
  resultOf(await post(sendLoginLink, {}, { email: ownerEmail, continueUrl }));
  return tokenIn(engine.mails.at(-1)!.text);
}

/** Returns the token in the link of a mail. */
export function tokenIn(text: string): string {
  const [, token] = /\?token=([\w-]+)$/m.exec(text) ?? [];
  if (!token) throw new Error(`There is no link in ${text}`);
  return token;
}

export interface PageAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly html: string;
}

let requests = 0;

/** Each request comes from another address, so that no test reaches the limit of a source address. */
async function request(
  method: string,
  overrides: Parameters<typeof eventOf>[2],
  handler: Handler,
): Promise<PageAnswer> {
  const event = eventOf(undefined, {}, overrides);
  Object.assign(event.requestContext.http, { method, sourceIp: `198.51.${requests >> 8}.${requests++ & 255}` });
  const {
    statusCode = 0,
    headers = {},
    body = '',
  } = await handler(event, { awsRequestId: 'aws' } as Parameters<Handler>[1]);
  return { status: statusCode, headers: headers as Record<string, string>, html: body };
}

/** Opens a login link with GET. */
export function openLink(
  token: string | undefined,
  { method = 'GET', handler = verificationPage } = {},
): Promise<PageAnswer> {
  return request(method, { ...(token !== undefined && { queryStringParameters: { token } }) }, handler);
}

/** Sends the POST request that the button of the page sends. */
export function pressButton(token: string, handler = verificationPage): Promise<PageAnswer> {
  return request(
    'POST',
    { body: Buffer.from(new URLSearchParams({ token }).toString()).toString('base64'), isBase64Encoded: true },
    handler,
  );
}
