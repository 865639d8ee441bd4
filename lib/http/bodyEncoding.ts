import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type ApiError, invalid } from '../shared/errors.ts';

const REPLACEMENT = '\ufffd';
const UTF8 = { fatal: true, ignoreBOM: true };
const MAX_QUOTED_CHARACTERS = 40;

/**
 * Throws INVALID_ARGUMENT for a body that it recognizes as not UTF-8.
 *
 * The gateway replaces other bytes in a body that it passes as text, so two different ids could become equal. The
 * length of such a body usually differs from its `content-length`.
 */
export function decodeBody(event: APIGatewayProxyEventV2): string {
  const { body = '', isBase64Encoded, headers } = event;
  if (!isBase64Encoded) {
    const length = body.includes(REPLACEMENT) ? headers['content-length'] : undefined;
    if (length !== undefined && Number(length) !== Buffer.byteLength(body)) throw notUtf8(event);
    return body;
  }
  try {
    return new TextDecoder('utf-8', UTF8).decode(Buffer.from(body, 'base64'));
  } catch {
    throw notUtf8(event);
  }
}

export function notJson(event: APIGatewayProxyEventV2): ApiError {
  const encoding = otherEncoding(event);
  if (encoding !== undefined) return wrongEncoding(encoding);
  return invalid({
    path: [],
    code: 'invalid_json',
    message: 'The request body must be JSON: an object with the key data',
  });
}

function notUtf8(event: APIGatewayProxyEventV2): ApiError {
  return wrongEncoding(otherEncoding(event) ?? 'it has bytes that are not UTF-8');
}

function wrongEncoding(problem: string): ApiError {
  return invalid({
    path: [],
    code: 'invalid_encoding',
    message: `The request body must be JSON in UTF-8, without a byte order mark and not compressed: ${problem}`,
  });
}

function otherEncoding({ body = '', isBase64Encoded, headers }: APIGatewayProxyEventV2): string | undefined {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const [a, b, c, d] = isBase64Encoded
    ? Buffer.from(body.slice(0, 8), 'base64')
    : Array.from({ length: 4 }, (_each, index) => body.charCodeAt(index));
  const isReplaced = (unit: number | undefined) => unit === REPLACEMENT.charCodeAt(0);
  if (a === 0x1f && (b === 0x8b || isReplaced(b))) return 'it is compressed with gzip';
  if (coding !== 'identity') return `its content-encoding is ${coding.slice(0, MAX_QUOTED_CHARACTERS)}`;
  if (a === 0xfeff || (a === 0xef && b === 0xbb && c === 0xbf)) return 'it begins with a byte order mark (BOM)';
  if (
    a === 0 ||
    b === 0 ||
    (a === 0xff && b === 0xfe) ||
    (a === 0xfe && b === 0xff) ||
    (isReplaced(a) && isReplaced(b) && (c === 0 || d === 0))
  )
    return 'it is in UTF-16';
  return undefined;
}
