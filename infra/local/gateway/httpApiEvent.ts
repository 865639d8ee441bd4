import { isUtf8 } from 'node:buffer';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { ACCOUNT } from '../iam/identity.ts';

export interface GatewayRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Each value follows its name, as in Node's `rawHeaders`. */
  readonly rawHeaders: readonly string[];
  readonly sourceIp: string;
  readonly body: Buffer;
  readonly requestId: string;
  readonly receivedAt: number;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The target may be an absolute URL. */
export function splitTarget(url: string): { path: string; query: string } {
  const local = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '') || '/';
  const queryStart = local.indexOf('?');
  return queryStart < 0
    ? { path: local, query: '' }
    : { path: local.slice(0, queryStart), query: local.slice(queryStart + 1) };
}

export function httpApiEvent(request: GatewayRequest, routeKey: string): APIGatewayProxyEventV2 {
  const { path, query } = splitTarget(request.url);
  const parameter = /\{(\w+)\}$/.exec(routeKey)?.[1];
  const { cookie, ...headers } = joinHeaders(request.rawHeaders);
  const domainName = headers.host ?? 'localhost';
  const [domainPrefix = ''] = domainName.split('.');
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookie !== undefined && { cookies: cookie.split(/; */) }),
    headers,
    ...(query !== '' && { queryStringParameters: joinValues(new URLSearchParams(query)) }),
    requestContext: {
      accountId: ACCOUNT,
      apiId: 'local',
      domainName,
      domainPrefix,
      http: {
        method: request.method,
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.requestId,
      routeKey,
      stage: '$default',
      time: logTime(request.receivedAt),
      timeEpoch: request.receivedAt,
    },
    ...(parameter !== undefined && { pathParameters: { [parameter]: decoded(path.slice(path.lastIndexOf('/') + 1)) } }),
    ...bodyOf(request.body, headers['content-type']),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Text stays, other content becomes base64. AWS does not document a text that is not valid UTF-8: here it is base64, so
 * the function gets all bytes.
 */
function bodyOf(body: Buffer, contentType = ''): { body?: string; isBase64Encoded: boolean } {
  if (body.length === 0) return { isBase64Encoded: false };
  const [firstPart = ''] = contentType.split(';');
  const mediaType = firstPart.trim().toLowerCase();
  const isText = /^(text\/.*|application\/(json|javascript|xml|.*\+json|.*\+xml))$/.test(mediaType) && isUtf8(body);
  return isText
    ? { body: body.toString('utf8'), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true };
}

function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const pairs: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2)
    pairs.push([(rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? '']);
  return joinValues(pairs);
}

function joinValues(pairs: Iterable<[string, string]>): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) values.set(name, values.has(name) ? `${values.get(name)},${value}` : value);
  return Object.fromEntries(values);
}

/** As `12/Mar/2020:19:03:58 +0000`. */
function logTime(epochMilliseconds: number): string {
  const [date = '', time = ''] = new Date(epochMilliseconds).toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${time.slice(0, 8)} +0000`;
}
