import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isLongerThan } from '../shared/bytes.ts';
import { type ApiError, errorCatalogue, invalid } from '../shared/errors.ts';
import { decodedBody, notJson } from './bodyEncoding.ts';
import { isNestedDeeper } from './jsonDepth.ts';

/** The largest body in bytes; what the platform refuses above 6 MB never reaches a function. */
export const BODY_BYTES = 5_500_000;
/** How deep a body may be nested; the envelope itself is the first level. */
export const BODY_LEVELS = 128;
/** What Lambda takes of an answer as JSON, without 64 KB for its headers. */
const LAMBDA_BYTES = 6_291_456 - 65_536;
/** A UTF-16 unit takes at most this many bytes as UTF-8, and so does one that JSON escapes with a backslash. */
const BYTES_PER_UNIT = 3;
/** The details of a failure that are longer than this are left out: paths repeat what the caller sent. */
const DETAILS_BYTES = 100_000;
const MESSAGE_CHARACTERS = 2_000;

/** The body's text; INVALID_ARGUMENT when it is larger than 5.5 MB or not UTF-8. */
export function bodyText(event: APIGatewayProxyEventV2): string {
  const { body = '', isBase64Encoded } = event;
  const tooLong = isBase64Encoded ? Math.floor((body.length * 3) / 4) > BODY_BYTES : isLongerThan(body, BODY_BYTES);
  if (tooLong)
    throw invalid({
      path: [],
      code: 'too_big',
      message: `The request body must not be larger than ${BODY_BYTES} bytes`,
    });
  return decodedBody(event);
}

/** The `data` of a request whose body has this text. INVALID_ARGUMENT when the text is no JSON object with an object `data`, or nested deeper than 128 levels. */
export function parseEnvelope(text: string, body: 'required' | 'optional', event: APIGatewayProxyEventV2): unknown {
  if (text.trim() === '' && body === 'optional') return {};
  if (isNestedDeeper(text, BODY_LEVELS))
    throw invalid({
      path: [],
      code: 'too_deep',
      message: `The request body must not be nested deeper than ${BODY_LEVELS} levels`,
    });
  let envelope: unknown;
  try {
    envelope = JSON.parse(text);
  } catch {
    throw notJson(event);
  }
  if (!isObject(envelope))
    throw invalid({ path: [], code: 'invalid_type', message: 'The request body must be an object with the key data' });
  const data = Object.hasOwn(envelope, 'data') ? envelope.data : undefined;
  if (data === undefined && body === 'optional') return {};
  if (data === undefined) throw invalid({ path: ['data'], code: 'invalid_type', message: 'data is required' });
  if (!isObject(data)) throw invalid({ path: ['data'], code: 'invalid_type', message: 'data must be an object' });
  return data;
}

/** The answer to a request that succeeded: `status`, `message`, and what the endpoint gives beside them; that alone where it declares no message. */
export function successBody(message: string | null, output: object): string {
  return JSON.stringify({ result: message === null ? output : { status: 'success', message, ...output } });
}

/**
 * An answer's body as Lambda carries it: a string within JSON, where quotes and backslashes count twice, or in base64 where that is shorter.
 * Undefined when Lambda takes neither.
 */
export function lambdaBody(body: string): { readonly body: string; readonly isBase64Encoded?: true } | undefined {
  if (body.length * BYTES_PER_UNIT <= LAMBDA_BYTES || !isLongerThan(JSON.stringify(body), LAMBDA_BYTES))
    return { body };
  const base64 = Buffer.from(body).toString('base64');
  return base64.length <= LAMBDA_BYTES ? { body: base64, isBase64Encoded: true } : undefined;
}

/** The answer to a request that failed. */
export function failureResponse({
  status,
  message,
  details,
  retryAfterSeconds,
}: ApiError): APIGatewayProxyStructuredResultV2 {
  const shown =
    message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS).toWellFormed()}...` : message;
  const whole = JSON.stringify({ error: { status, message: shown, ...(details && { details }) } });
  return {
    statusCode: errorCatalogue[status].http,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
    body: isLongerThan(whole, DETAILS_BYTES) ? JSON.stringify({ error: { status, message: shown } }) : whole,
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
