import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface RequestToSign {
  readonly url: URL;
  readonly service: string;
  readonly region: string;
  readonly body: string;
}

/**
 * Returns the headers of a POST request with JSON, signed by Signature Version 4. The SDK has no client for the Event API,
 * and its signer would be the largest part of a function that needs nothing else of it. `now` is epoch ms.
 */
export function signRequest(
  { url, service, region, body }: RequestToSign,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  now: number,
): Record<string, string> {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    host: url.host,
    'x-amz-date': date,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const signedHeaders = Object.keys(headers).join(';');
  const canonical = [
    'POST',
    url.pathname,
    '',
    ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    sha256(body),
  ].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  // The HTTP client adds the host.
  const { host: _host, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
