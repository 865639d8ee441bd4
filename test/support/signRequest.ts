import { createHash, createHmac } from 'node:crypto';

interface RequestToSign {
  readonly url: string;
  readonly service: string;
  /** The value of the header `x-amz-target`, such as `AmazonSQS.SendMessage`. */
  readonly target: string;
  readonly body: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Returns the signed headers of an AWS call without the SDK. Tests copy the source text of this function into other
 * functions, so it may use only `createHash` and `createHmac`.
 */
export function signRequest({
  url,
  service,
  target,
  body,
  accessKeyId,
  secretAccessKey,
}: RequestToSign): Record<string, string> {
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/us-east-1/${service}/aws4_request`;
  const names = 'host;x-amz-date;x-amz-target';
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const canonical = [
    'POST',
    '/',
    '',
    `host:${new URL(url).host}`,
    `x-amz-date:${date}`,
    `x-amz-target:${target}`,
    '',
    names,
    sha256(body),
  ].join('\n');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  return {
    'x-amz-date': date,
    'x-amz-target': target,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
