import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Handler } from '../../lib/http/stack.ts';

export type Headers = Record<string, string>;

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string>;
  // The type is `any`, so that tests can read any field.
  readonly body: any;
}

/** Returns the event that the HTTP API makes of a POST with this body. */
export function eventOf(
  body: string | undefined,
  headers: Headers = {},
  overrides: Partial<APIGatewayProxyEventV2> = {},
): APIGatewayProxyEventV2 {
  return {
    version: '2.0',
    routeKey: 'POST /test',
    rawPath: '/test',
    rawQueryString: '',
    headers: { 'content-type': 'application/json', ...headers },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'api',
      domainName: 'api.test',
      domainPrefix: 'api',
      requestId: randomUUID(),
      routeKey: 'POST /test',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 0,
      http: { method: 'POST', path: '/test', protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
    },
    isBase64Encoded: false,
    ...(body !== undefined && { body }),
    ...overrides,
  };
}

/** Sends `data` to a handler, wrapped in the envelope of requests. */
export async function post(handler: Handler, headers: Headers, data: unknown): Promise<Response> {
  return send(handler, eventOf(JSON.stringify({ data }), headers));
}

/** Calls a handler from another IP address. */
export function postFrom(sourceIp: string, to: Handler, data: unknown): Promise<Response> {
  const event = eventOf(JSON.stringify({ data }));
  return send(to, {
    ...event,
    requestContext: { ...event.requestContext, http: { ...event.requestContext.http, sourceIp } },
  });
}

/** Sends an event to a handler. */
export async function send(handler: Handler, event: APIGatewayProxyEventV2): Promise<Response> {
  const result = await handler(event, { awsRequestId: randomUUID(), functionName: 'test' } as Context);
  const body = result.isBase64Encoded ? Buffer.from(result.body!, 'base64').toString() : result.body;
  return {
    status: result.statusCode ?? 0,
    headers: result.headers as Record<string, string>,
    body: JSON.parse(body ?? 'null'),
  };
}

/** Returns the HTTP status of an answer, and the status and the message of its error, if any. */
export function errorOf({ status, body }: Response): [http: number, status?: string, message?: string] {
  return [status, body.error?.status, body.error?.message];
}

/** Returns the `result` of an answer. Throws if the call failed. The message contains `path`. */
export function resultOf({ status, body }: Pick<Response, 'status' | 'body'>, path = 'The call'): any {
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result;
}
