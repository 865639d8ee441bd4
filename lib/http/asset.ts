import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { AssetContent, AssetOf } from '../app/asset.ts';
import { environment, openAll, type Uses } from '../app/capability.ts';
import { endpointId } from '../app/endpoint.ts';
import { ApiError } from '../shared/errors.ts';
import { lazy } from '../shared/lazy.ts';
import { limitSources } from './sourceLimits.ts';
import { type Handler, stack } from './stack.ts';

/** After a deployment, caches can return the old content for this long. */
const FRESH_SECONDS = 300;

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
    const { pages = {}, ...main } = asset.make(files, openAll(asset.uses, env()));
    const answers = Object.entries(pages).map(([page, ofPage]) => [page, lazy(() => answerOf(ofPage))] as const);
    return { main: lazy(() => answerOf(main)), pages: new Map(answers) };
  });

  return stack(
    { endpoint: endpointId(asset.path), path: asset.path, serviceName: () => env().SERVICE_NAME },
    [limitSources()],
    ({ headers: requestHeaders, requestContext, pathParameters }): APIGatewayProxyStructuredResultV2 => {
      const { main, pages } = content();
      const page = pathParameters?.page;
      const found = page === undefined ? main : pages.get(page);
      if (!found) throw new ApiError('NOT_FOUND', `There is no page ${requestContext.http.path.slice(0, 200)}`);
      const { text, headers, contentHeaders, compressed } = found();
      if (namesTag(requestHeaders['if-none-match'], headers.etag)) return { statusCode: 304, headers, body: '' };
      const isHead = requestContext.http.method === 'HEAD';
      if (isHead || !acceptsGzip(requestHeaders['accept-encoding']))
        return { statusCode: 200, headers: { ...headers, ...contentHeaders }, body: isHead ? '' : text };
      return {
        statusCode: 200,
        headers: { ...headers, ...contentHeaders, 'content-encoding': 'gzip' },
        body: compressed(),
        isBase64Encoded: true,
      };
    },
  );
}

function answerOf({ type, text, contentSecurityPolicy }: AssetContent) {
  return {
    text,
    headers: {
      // Weak, because the compressed and the plain answer share it.
      etag: `W/"${hash('sha256', text, 'base64url')}"`,
      'cache-control': `public, max-age=${FRESH_SECONDS}`,
      vary: 'accept-encoding',
      // A browser replaces the policy of its copy by that of an answer 304, so both have the same.
      ...(contentSecurityPolicy !== undefined && { 'content-security-policy': contentSecurityPolicy }),
    },
    contentHeaders: { 'content-type': type },
    compressed: lazy(() => gzipSync(text).toString('base64')),
  };
}

function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function acceptsGzip(header = ''): boolean {
  return header.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
