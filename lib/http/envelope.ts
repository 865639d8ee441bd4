import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { isLongerThan } from '../bytes.ts';
import { type ApiError, errorCatalogue, invalid } from '../errors.ts';

/** The largest body in bytes; what the platform refuses above 6 MB never reaches a function. */
export const BODY_BYTES = 5_500_000;
/** The largest answer in bytes, safely below the 6 MB that a function may return. */
export const ANSWER_BYTES = 5_000_000;

/** The body's text; INVALID_ARGUMENT when it is larger than 5.5 MB or not UTF-8. */
export function bodyText(event: APIGatewayProxyEventV2): string {
  const { body = '', isBase64Encoded } = event;
  const tooLong = isBase64Encoded ? Math.floor((body.length * 3) / 4) > BODY_BYTES : isLongerThan(body, BODY_BYTES);
  if (tooLong) throw invalid({ path: [], code: 'too_big', message: `The request body must not be larger than ${BODY_BYTES} bytes` });
  if (!isBase64Encoded) return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'));
  } catch {
    throw invalid({ path: [], code: 'invalid_encoding', message: 'The request body must be JSON in UTF-8' });
  }
}

/** The `data` of a request body (spec 1). INVALID_ARGUMENT when the body is no JSON object with an object `data`. */
export function parseEnvelope(text: string, body: 'required' | 'optional'): unknown {
  if (text.trim() === '' && body === 'optional') return {};
  let envelope: unknown;
  try {
    envelope = JSON.parse(text);
  } catch {
    throw invalid({ path: [], code: 'invalid_json', message: 'The request body must be JSON: an object with the key data' });
  }
  if (!isObject(envelope)) throw invalid({ path: [], code: 'invalid_type', message: 'The request body must be an object with the key data' });
  const data = Object.hasOwn(envelope, 'data') ? envelope.data : undefined;
  if (data === undefined && body === 'optional') return {};
  if (data === undefined) throw invalid({ path: ['data'], code: 'invalid_type', message: 'data is required' });
  if (!isObject(data)) throw invalid({ path: ['data'], code: 'invalid_type', message: 'data must be an object' });
  return data;
}

/** The answer to a request that succeeded: `status`, `message`, and what the endpoint gives beside them; that alone where it declares no message. */
export function success(message: string | null, output: object): string {
  return JSON.stringify({ result: message === null ? output : { status: 'success', message, ...output } });
}

/** The answer to a request that failed. */
export function failure(error: ApiError): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: errorCatalogue[error.status].http,
    body: JSON.stringify({ error: { status: error.status, message: error.message, ...(error.details && { details: error.details }) } }),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
