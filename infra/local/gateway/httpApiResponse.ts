import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

/** Returns a response of the gateway itself: `{"message": …}`, as in API Gateway. */
export function gatewayResponse(status: number, message: string): GatewayResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify({ message })) };
}

/** Reads payload format 2.0. Returns undefined if the result is invalid. */
export function httpApiResponse(payload: string): GatewayResponse | undefined {
  const result = JSON.parse(payload) as APIGatewayProxyStructuredResultV2 | null | string | number;
  // A result without a status code is itself the body.
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
