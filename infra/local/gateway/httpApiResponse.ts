import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** An answer as it goes out. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

/** An answer of the gateway itself, which has its own shape and not the envelope of the functions. */
export function gatewayAnswer(status: number, message: string): GatewayAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify({ message })) };
}

/** What an HTTP API makes of a function's answer, payload format 2.0; undefined when it cannot make anything of it. */
export function httpApiAnswer(payload: string): GatewayAnswer | undefined {
  const result = JSON.parse(payload) as APIGatewayProxyStructuredResultV2 | null | string | number;
  // Without a status code the whole answer is taken for the body.
  if (typeof result !== 'object' || result === null || result.statusCode === undefined) {
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(typeof result === 'string' ? result : payload),
    };
  }
  const { statusCode, headers = {}, cookies = [], body = '', isBase64Encoded = false } = result;
  if (!Number.isInteger(statusCode) || statusCode < 100 || statusCode > 599 || typeof body !== 'string')
    return undefined;
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  return {
    status: statusCode,
    headers: {
      'content-type': 'text/plain;charset=UTF-8',
      ...Object.fromEntries(lowerCased),
      ...(cookies.length > 0 && { 'set-cookie': cookies }),
    },
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
}
