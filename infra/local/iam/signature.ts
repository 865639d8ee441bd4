import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface Authorization {
  readonly accessKeyId: string;
  /** Such as `20260101/us-east-1/sqs/aws4_request`. */
  readonly scope: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export interface SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** SHA-256 in hexadecimal. */
  readonly bodyHash: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION = new RegExp(
  `^${ALGORITHM} Credential=([A-Z0-9]{1,128})/(\\d{8}/[a-z0-9-]{1,32}/[a-z0-9-]{1,32}/aws4_request), ?SignedHeaders=([a-z0-9;-]{1,2048}), ?Signature=([0-9a-f]{64})$`,
);
/**
 * A client that streams the body signs this text instead of the body's hash. The signature does not cover such a body.
 */
const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

/** Returns undefined unless the header is of Signature Version 4. */
export function readAuthorization(header: string | undefined): Authorization | undefined {
  const [, accessKeyId, scope, signedHeaders, signature] = AUTHORIZATION.exec(header ?? '') ?? [];
  return accessKeyId && scope && signedHeaders && signature
    ? { accessKeyId, scope, signedHeaders: signedHeaders.split(';'), signature }
    : undefined;
}

/** Checks signatures of one secret key. Caches signing keys: deriving one takes four hashes. */
export function signatureVerifier(
  secretAccessKey: string,
): (authorization: Authorization, request: SignedRequest) => boolean {
  const keys = new Map<string, Buffer>();
  const signingKey = (scope: string) => {
    const cachedKey = keys.get(scope);
    if (cachedKey) return cachedKey;
    const key = scope
      .split('/')
      .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`) as Buffer;
    // A client that invents scopes would let the cache grow.
    if (keys.size >= 16) keys.clear();
    keys.set(scope, key);
    return key;
  };
  return ({ scope, signedHeaders, signature }, request) => {
    // The signature must cover the host and the target. Otherwise it would also be valid for another host or operation.
    const { host, 'x-amz-date': date, 'x-amz-target': target } = request.headers;
    const isBound =
      host !== undefined &&
      signedHeaders.includes('host') &&
      typeof date === 'string' &&
      signedHeaders.includes('x-amz-date') &&
      date.startsWith(`${scope.slice(0, 8)}T`) &&
      (target === undefined || signedHeaders.includes('x-amz-target'));
    if (!isBound) return false;
    const toSign = [ALGORITHM, date, scope, sha256(canonicalRequest(request, signedHeaders))].join('\n');
    return timingSafeEqual(hmac(signingKey(scope), toSign), Buffer.from(signature, 'hex'));
  };
}

function canonicalRequest({ method, url, headers, bodyHash }: SignedRequest, signedHeaders: readonly string[]): string {
  const [path = '', query = ''] = url.split('?', 2);
  const lines = signedHeaders.map(
    (name) =>
      `${name}:${String(headers[name] ?? '')
        .trim()
        .replace(/ +/g, ' ')}\n`,
  );
  const payload = headers['x-amz-content-sha256'] === UNSIGNED_PAYLOAD ? UNSIGNED_PAYLOAD : bodyHash;
  return [method, encodePath(path), sortQuery(query), lines.join(''), signedHeaders.join(';'), payload].join('\n');
}

function sortQuery(query: string): string {
  const pairs = query.split('&').map((pair) => pair.split('=', 2) as [string, string?]);
  const compare = (a = '', b = '') => Number(a > b) - Number(a < b);
  return pairs
    .sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
    .map((pair) => pair.join('='))
    .join('&');
}

/** The signature covers each segment with one more encoding than in the request. */
function encodePath(path: string): string {
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
