import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { BodyForm } from '../app/endpoint.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { isObject } from '../shared/collections.ts';
import { type ApiError, errorCatalogue, fieldName, invalid } from '../shared/errors.ts';
import { parseJson } from '../shared/parseJson.ts';
import { printable, unknownFieldIssue } from '../shared/unknownFields.ts';
import { decodeBody, notJson } from './bodyEncoding.ts';

/** Lambda refuses bodies above 6 MB. */
export const BODY_BYTES = 5_500_000;
const BODY_LEVELS = 128;
/** Lambda's limit of an answer as JSON is 6 MB, of which 64 KB are for headers. */
const LAMBDA_BYTES = 6_291_456 - 65_536;
/** UTF-8 needs at most this many bytes for one UTF-16 code unit. A quote or backslash, escaped in JSON, needs two. */
const BYTES_PER_UNIT = 3;
/**
 * Issues can repeat long texts of the request. Other details are an answer, such as the permissions of 100 users.
 * Details are left out of a body that would be larger.
 */
const DETAILS_BYTES = { issues: 100_000, other: 3_000_000 } as const;
const MESSAGE_CHARACTERS = 2_000;

export function bodyText(event: APIGatewayProxyEventV2): string {
  const { body = '', isBase64Encoded } = event;
  const tooLong = isBase64Encoded ? Math.floor((body.length * 3) / 4) > BODY_BYTES : isLongerThan(body, BODY_BYTES);
  if (tooLong)
    throw invalid({
      path: [],
      code: 'too_big',
      message: `The request body must not be larger than ${BODY_BYTES} bytes`,
    });
  return decodeBody(event);
}

/**
 * Returns the `data` of a body. With `optional`, a missing `data` counts as an empty object. With `bare or wrapped`, a
 * body with `organizationId` at the top is itself the data. Throws INVALID_ARGUMENT for other bodies.
 */
export function parseEnvelope(text: string, body: BodyForm, event: APIGatewayProxyEventV2): unknown {
  if (text.trim() === '' && body === 'optional') return {};
  if (isNestedDeeper(text, BODY_LEVELS))
    throw invalid({
      path: [],
      code: 'too_deep',
      message: `The request body must not be nested deeper than ${BODY_LEVELS} levels`,
    });
  const envelope = parseJson(text);
  if (envelope === undefined) throw notJson(event);
  if (!isObject(envelope))
    throw invalid({ path: [], code: 'invalid_type', message: 'The request body must be an object with the key data' });
  const isBare = body === 'bare or wrapped' && Object.hasOwn(envelope, 'organizationId');
  const infinite = findInfinity(text, isBare ? envelope : envelope.data)?.map((part) =>
    typeof part === 'string' ? printable(part) : part,
  );
  if (infinite !== undefined && infinite.length > 0)
    throw invalid({
      path: infinite,
      code: 'too_big',
      message: `${fieldName(infinite)} must be a number between ${-Number.MAX_VALUE} and ${Number.MAX_VALUE}`,
    });
  if (isBare) return envelope;
  const data = Object.hasOwn(envelope, 'data') ? envelope.data : undefined;
  if (data === undefined && body !== 'optional')
    throw invalid({ path: ['data'], code: 'invalid_type', message: 'data is required' });
  const besideData = Object.keys(envelope).find((key) => key !== 'data');
  if (besideData !== undefined) throw invalid(unknownFieldIssue([besideData], ['data', besideData].map(printable)));
  if (data === undefined) return {};
  if (!isObject(data)) throw invalid({ path: ['data'], code: 'invalid_type', message: 'data must be an object' });
  return data;
}

/** If `message` is null, `result` is the output alone. */
export function successBody(message: string | null, output: object): string {
  return JSON.stringify({ result: message === null ? output : { status: 'success', message, ...output } });
}

/**
 * Lambda puts a body into JSON, where quotes and backslashes need two bytes. If the result is too large, returns the
 * body in base64, or undefined if base64 is too large too.
 */
export function lambdaBody(body: string): { readonly body: string; readonly isBase64Encoded?: true } | undefined {
  if (body.length * BYTES_PER_UNIT <= LAMBDA_BYTES || !isLongerThan(JSON.stringify(body), LAMBDA_BYTES))
    return { body };
  const base64 = Buffer.from(body).toString('base64');
  return base64.length <= LAMBDA_BYTES ? { body: base64, isBase64Encoded: true } : undefined;
}

export function failureResponse({
  status,
  message,
  details,
  retryAfterSeconds,
}: ApiError): APIGatewayProxyStructuredResultV2 {
  const text =
    message.length > MESSAGE_CHARACTERS ? `${message.slice(0, MESSAGE_CHARACTERS).toWellFormed()}...` : message;
  const whole = JSON.stringify({ error: { status, message: text, ...(details && { details }) } });
  const largest = DETAILS_BYTES[details && 'issues' in details ? 'issues' : 'other'];
  return {
    statusCode: errorCatalogue[status].http,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
    body: isLongerThan(whole, largest) ? JSON.stringify({ error: { status, message: text } }) : whole,
  };
}

const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

export function isNestedDeeper(text: string, levels: number): boolean {
  return hasMoreBrackets(text, levels) && countLevels(text, levels) > levels;
}

function hasMoreBrackets(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ['{', '['])
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1))
      if (++count > limit) return true;
  return false;
}

function countLevels(text: string, limit: number): number {
  let [depth, deepest] = [0, 0];
  for (let index = 0; index < text.length && deepest <= limit; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = endOfString(text, index);
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) deepest = Math.max(deepest, ++depth);
    else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--;
  }
  return deepest;
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let firstBackslash = quote;
    while (text.charCodeAt(firstBackslash - 1) === BACKSLASH) firstBackslash--;
    // A quote after an odd number of backslashes is escaped.
    if ((quote - firstBackslash) % 2 === 0) return quote;
  }
  return text.length;
}

/** A number that JavaScript reads as infinite has at least 3 digits in its exponent, or at least 200 in a row. */
const LARGE_NUMBER = /\d[eE]\+?\d{3}|(?<!\d)\d{200}/;

export function findInfinity(text: string, value: unknown): (string | number)[] | undefined {
  return LARGE_NUMBER.test(text) ? pathOfInfinity(value) : undefined;
}

function pathOfInfinity(value: unknown): (string | number)[] | undefined {
  if (value === Infinity || value === -Infinity) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const path = pathOfInfinity((value as Record<string, unknown>)[key]);
    if (path) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}
