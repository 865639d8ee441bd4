import type { Readable } from 'node:stream';
import { RequestSigner, type SigningCredentials } from '../crypto/requestSigner.ts';
import { connectionErrorCodes } from './connectionErrors.ts';

/** A JSON object with unknown fields. */
type Json = Record<string, unknown>;

export interface JsonRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface JsonResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** The state of a call's attempts, which the SDK's retry strategy returns. */
export interface RetryToken {
  getRetryCount(): number;
  getRetryCost(): number | undefined;
}

/** The settings for sending and repeating calls. A resolved configuration of an SDK client has the same fields. */
export interface JsonConfig {
  credentials(): Promise<SigningCredentials>;
  region(): Promise<string>;
  /** Returns the address of the service. */
  url(): Promise<URL>;
  retryStrategy(): Promise<{
    acquireInitialRetryToken(scope: string): Promise<RetryToken>;
    refreshRetryTokenForRetry(
      token: RetryToken,
      errorInfo: { error: Error; errorType: ErrorType },
    ): Promise<RetryToken>;
    recordSuccess(token: RetryToken): void;
  }>;
  readonly requestHandler: {
    handle(
      request: JsonRequest,
      options?: { abortSignal?: AbortSignal | undefined },
    ): Promise<{ response: JsonResponse }>;
    destroy?(): void;
  };
}

/** The names of an AWS service in its signatures and headers. */
export interface JsonServiceNames {
  readonly signingName: string;
  /** The text before the operation in the header `x-amz-target`, without the dot. */
  readonly target: string;
  readonly version: '1.0' | '1.1';
}

/** An error response of a service. */
export interface ErrorReply {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly body: string;
}

/** The error of a call. `$metadata.attempts` is the number of attempts. */
interface CallError extends Error {
  cause?: Error;
  $metadata?: { httpStatusCode?: number; attempts?: number };
}

type ErrorType = 'THROTTLING' | 'TRANSIENT' | 'CLIENT_ERROR';

/** The URL of a service and the signer of its requests. A process resolves them once. */
interface Destination {
  readonly url: URL;
  readonly signer: RequestSigner;
}

/** Calls the operations of an AWS service that has a JSON protocol. */
export class JsonService {
  readonly #config: JsonConfig;
  readonly #names: JsonServiceNames;
  readonly #toError: (reply: ErrorReply) => Error;
  #destination: Promise<Destination> | undefined;

  constructor(config: JsonConfig, names: JsonServiceNames, toError: (reply: ErrorReply) => Error = toServiceError) {
    this.#config = config;
    this.#names = names;
    this.#toError = toError;
  }

  /**
   * Calls an operation and returns the body of the response. Repeats failed attempts as the retry strategy allows. If the last
   * attempt fails too, throws its error, which has the name that AWS gave it.
   */
  async call(
    operation: string,
    body: string,
    options: { abortSignal?: AbortSignal | undefined } = {},
  ): Promise<string> {
    const strategy = await this.#config.retryStrategy();
    let retryToken = await strategy.acquireInitialRetryToken('');
    for (let attempts = 1; ; attempts++) {
      try {
        const answer = await this.#attempt(operation, body, options);
        strategy.recordSuccess(retryToken);
        return answer;
      } catch (thrown) {
        const error = thrown as CallError;
        error.$metadata = { ...error.$metadata, attempts };
        // Waits before the next attempt. If the strategy allows no further attempt, throws the error of this attempt.
        retryToken = await strategy
          .refreshRetryTokenForRetry(retryToken, { error, errorType: errorTypeOf(error) })
          .catch(() => Promise.reject(error));
      }
    }
  }

  destroy(): void {
    this.#config.requestHandler.destroy?.();
  }

  async #attempt(operation: string, body: string, options: { abortSignal?: AbortSignal | undefined }): Promise<string> {
    const { url, signer } = await (this.#destination ??= this.#resolveDestination().catch(this.#forgetDestination));
    const credentials = await this.#config.credentials();
    const signed = { 'x-amz-target': `${this.#names.target}.${operation}` };
    const { protocol, hostname, port, host } = url;
    const request = {
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      method: 'POST',
      path: '/',
      query: {},
      headers: {
        ...signer.sign({ host, path: '/', headers: signed, body }, credentials, Date.now()),
        'content-type': `application/x-amz-json-${this.#names.version}`,
      },
      body,
    };
    const { response } = await this.#config.requestHandler.handle(request, options);
    const answer = await readText(response.body);
    if (response.statusCode === 200) return answer;
    const requestId = response.headers['x-amzn-requestid'];
    throw this.#toError({
      status: response.statusCode,
      requestId: typeof requestId === 'string' ? requestId : undefined,
      body: answer,
    });
  }

  async #resolveDestination(): Promise<Destination> {
    const [url, region] = await Promise.all([this.#config.url(), this.#config.region()]);
    return { url, signer: new RequestSigner(region, this.#names.signingName) };
  }

  /** The next call resolves the destination again. */
  readonly #forgetDestination = (error: Error): never => {
    this.#destination = undefined;
    throw error;
  };
}

/**
 * Returns the text of a response's body. Reads it by events, because the iterator in `text` of `node:stream/consumers` takes more
 * CPU time.
 */
function readText(body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => void (text += chunk));
    body.on('end', () => resolve(text));
    body.on('error', reject);
    body.on('close', () => reject(new Error('aborted')));
  });
}

/** The fields that the error responses of all AWS services have. */
export interface ErrorParts {
  readonly name: string;
  readonly message: string;
  readonly $fault: 'client' | 'server';
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId?: string };
  /** The other fields of the response body. */
  readonly fields: Json;
}

/**
 * Returns the parts of an error response. `parse` parses its body. If `parse` throws, for example for the text of a proxy, the name
 * is `HTTP <status>`.
 */
export function errorParts({ status, requestId, body }: ErrorReply, parse: (body: string) => Json): ErrorParts {
  const { __type = '', message, Message, ...fields } = parsed(body, parse);
  const name = String(__type).split('#').at(-1) || `HTTP ${status}`;
  return {
    name,
    message: [message, Message].find((part) => typeof part === 'string') ?? name,
    $fault: status < 500 ? 'client' : 'server',
    $metadata: { httpStatusCode: status, ...(requestId !== undefined && { requestId }) },
    fields,
  };
}

function parsed(body: string, parse: (body: string) => Json): Json {
  try {
    return parse(body);
  } catch {
    return {};
  }
}

function toServiceError(reply: ErrorReply): Error {
  const { message, name, $fault, $metadata, fields } = errorParts(reply, (body) => JSON.parse(body) as Json);
  return Object.assign(new Error(message), fields, { name, $fault, $metadata });
}

const THROTTLING: ReadonlySet<string> = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const TRANSIENT: ReadonlySet<string> = new Set(['TimeoutError', 'RequestTimeout', 'RequestTimeoutException']);

/** Returns the type of an error for the SDK's retry strategy. The strategy repeats calls after THROTTLING and TRANSIENT errors. */
function errorTypeOf(error: CallError & { readonly code?: string }): ErrorType {
  const { name, code, message, $metadata: { httpStatusCode = 0 } = {} } = error;
  if (httpStatusCode === 429 || THROTTLING.has(name)) return 'THROTTLING';
  // The error of an interrupted response has no code, so it is recognized by its message `aborted`.
  const isTransient =
    TRANSIENT_STATUS.has(httpStatusCode) ||
    TRANSIENT.has(name) ||
    connectionErrorCodes.has(code) ||
    message === 'aborted';
  // A request can wait so long for a connection that its signature expires. It is repeated, because the next attempt has a new
  // signature.
  const isExpired = name === 'InvalidSignatureException' && message.includes('Signature expired');
  return isTransient || isExpired ? 'TRANSIENT' : 'CLIENT_ERROR';
}
