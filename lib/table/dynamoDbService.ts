import type { Readable } from 'node:stream';
import { RequestSigner, type SigningCredentials } from '../crypto/requestSigner.ts';
import { connectionErrorCodes } from '../shared/connectionErrors.ts';

export interface ServiceRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface ServiceResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

export interface RetryToken {
  getRetryCount(): number;
  getRetryCost(): number | undefined;
}

export interface ServiceConfig {
  credentials(): Promise<SigningCredentials>;
  region(): Promise<string>;
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
      request: ServiceRequest,
      options?: { abortSignal?: AbortSignal | undefined },
    ): Promise<{ response: ServiceResponse }>;
    destroy?(): void;
  };
}

export interface ErrorReply {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly body: string;
}

interface CallError extends Error {
  cause?: Error;
  $metadata?: { httpStatusCode?: number; attempts?: number };
}

type ErrorType = 'THROTTLING' | 'TRANSIENT' | 'CLIENT_ERROR';

interface Destination {
  readonly url: URL;
  readonly signer: RequestSigner;
}

export class DynamoDbService {
  readonly #config: ServiceConfig;
  readonly #toError: (reply: ErrorReply) => Error;
  #destination: Promise<Destination> | undefined;

  constructor(config: ServiceConfig, toError: (reply: ErrorReply) => Error) {
    this.#config = config;
    this.#toError = toError;
  }

  /**
   * Returns the body of the response. Repeats failed attempts as the retry strategy allows, and throws the last error.
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
    const signed = { 'x-amz-target': `DynamoDB_20120810.${operation}` };
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
        'content-type': 'application/x-amz-json-1.0',
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
    return { url, signer: new RequestSigner(region, 'dynamodb') };
  }

  readonly #forgetDestination = (error: Error): never => {
    this.#destination = undefined;
    throw error;
  };
}

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

/** The SDK's strategy repeats calls after THROTTLING and TRANSIENT errors. */
function errorTypeOf(error: CallError & { readonly code?: string }): ErrorType {
  const { name, code, message, $metadata: { httpStatusCode = 0 } = {} } = error;
  if (httpStatusCode === 429 || THROTTLING.has(name)) return 'THROTTLING';
  // A response that closes early without an error has no code, only the message `aborted`.
  const isTransient =
    TRANSIENT_STATUS.has(httpStatusCode) ||
    TRANSIENT.has(name) ||
    connectionErrorCodes.has(code) ||
    message === 'aborted';
  // A request can wait so long for a connection that its signature expires. The next attempt has a new one.
  const isExpired = name === 'InvalidSignatureException' && message.includes('Signature expired');
  return isTransient || isExpired ? 'TRANSIENT' : 'CLIENT_ERROR';
}
