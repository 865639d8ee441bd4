import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { AssetOf } from '../app/asset.ts';
import { environment, openAll, type Uses } from '../app/capability.ts';
import { endpointId } from '../app/endpoint.ts';
import { lazy } from '../shared/lazy.ts';
import { type Handler, stack } from './stack.ts';

/** Caches show a new deployment after this time. */
const FRESH_SECONDS = 300;

/** Returns the Lambda handler of an asset. It makes the content at the first request and keeps it. `folder` has the files of the asset. */
export function toAsset<U extends Uses, F extends string>(
  asset: AssetOf<U, F>,
  folder: string,
  source: Record<string, string | undefined> = process.env,
): Handler {
  const env = lazy(() => environment(source));
  const content = lazy(() => {
    const files = Object.fromEntries(
      asset.files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
    ) as Record<F, string>;
    const { type, text, contentSecurityPolicy } = asset.make(files, openAll(asset.uses, env()));
    const headers = {
      // Weak, because the compressed answer has other bytes.
      etag: `W/"${hash('sha256', text, 'base64url')}"`,
      'cache-control': `public, max-age=${FRESH_SECONDS}`,
      vary: 'accept-encoding',
    };
    return {
      text,
      headers,
      own: {
        'content-type': type,
        ...(contentSecurityPolicy !== undefined && { 'content-security-policy': contentSecurityPolicy }),
      },
    };
  });
  const compressed = lazy(() => gzipSync(content().text).toString('base64'));

  return stack(
    { endpoint: endpointId(asset.path), path: asset.path, serviceName: () => env().SERVICE_NAME },
    [],
    ({ headers: requestHeaders }): APIGatewayProxyStructuredResultV2 => {
      const { text, headers, own } = content();
      if (namesTag(requestHeaders['if-none-match'], headers.etag)) return { statusCode: 304, headers, body: '' };
      if (!acceptsGzip(requestHeaders['accept-encoding']))
        return { statusCode: 200, headers: { ...headers, ...own }, body: text };
      return {
        statusCode: 200,
        headers: { ...headers, ...own, 'content-encoding': 'gzip' },
        body: compressed(),
        isBase64Encoded: true,
      };
    },
  );
}

/** Returns whether an `If-None-Match` header names an entity tag. Tags are compared weakly (RFC 9110). */
function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag));
}

/** Returns whether an `Accept-Encoding` header accepts gzip. The weight 0 refuses it. */
function acceptsGzip(header = ''): boolean {
  return header.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
