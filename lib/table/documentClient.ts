import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { fromErrorBody, fromResponseBody, type Json, toRequestBody } from './attributeValues.ts';
import { RequestSigner } from '../crypto/requestSigner.ts';

/** A command of the SDK's document client. */
export interface DocumentCommand {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

/** The names of operations that differ from those of their document commands. */
const operations: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  TransactWrite: 'TransactWriteItems',
};

/** Returns the operation of DynamoDB that a document command calls. */
export function operationOf({ constructor: { name } }: DocumentCommand): string {
  const short = name.replace(/Command$/, '');
  return operations[short] ?? short;
}

/** Opens the document client of the table. Tests and benches replace it. */
export const documentClients = {
  open: (client: DynamoDBClient): DynamoDBDocumentClient =>
    new DocumentClient(client) as unknown as DynamoDBDocumentClient,
};

/** Where requests go. It is constant for a process. */
interface Destination {
  readonly url: URL;
  readonly signer: RequestSigner;
}

/** A response of the SDK's HTTP handler. */
interface Received {
  readonly response: { readonly statusCode: number; readonly headers: Reply['headers']; readonly body: Readable };
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** A failed call. The number of attempts is part of its metadata. */
interface CallError extends Error {
  cause?: Error;
  $metadata?: { httpStatusCode?: number; attempts?: number };
}

/**
 * Executes the commands of the SDK's document client in a tenth of its CPU time. Credentials, endpoint, region, connections, timeouts and
 * retries are those of an SDK client. Serialisation, signature and errors are its own. The SDK spends its time in the middlewares of each call.
 */
class DocumentClient {
  readonly #config: DynamoDBClient['config'];
  #destination: Promise<Destination> | undefined;

  constructor({ config }: DynamoDBClient) {
    this.#config = config;
  }

  /** Executes a command. Throws errors that have the names of AWS errors, after as many attempts as the SDK makes. */
  async send(command: DocumentCommand): Promise<Json> {
    const operation = operationOf(command);
    // A repeated transaction with the same token is executed once.
    const token = operation === 'TransactWriteItems' ? { ClientRequestToken: randomUUID() } : undefined;
    const body = toRequestBody({ ...token, ...command.input });
    const strategy = await this.#config.retryStrategy();
    if (!('acquireInitialRetryToken' in strategy)) throw new Error('The retry strategy has an old interface');
    let retryToken = await strategy.acquireInitialRetryToken('');
    for (let attempts = 1; ; attempts++) {
      try {
        const output = await this.#attempt(operation, body);
        strategy.recordSuccess(retryToken);
        return output;
      } catch (thrown) {
        const error = thrown as CallError;
        error.$metadata = { ...error.$metadata, attempts };
        // Waits for the pause before the next attempt. Throws the error if there is none.
        retryToken = await strategy
          .refreshRetryTokenForRetry(retryToken, { error, errorType: errorTypeOf(error) })
          .catch(() => Promise.reject(error));
      }
    }
  }

  destroy(): void {
    this.#config.requestHandler.destroy?.();
  }

  async #attempt(operation: string, body: string): Promise<Json> {
    const { url, signer } = await (this.#destination ??= this.#resolveDestination());
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
    const { response } = (await this.#config.requestHandler.handle(request)) as Received;
    const reply = { status: response.statusCode, headers: response.headers, body: await readText(response.body) };
    if (reply.status === 200) return fromResponseBody(reply.body);
    throw toError(reply);
  }

  async #resolveDestination(): Promise<Destination> {
    const { endpointProvider, region, serviceConfiguredEndpoint, useFipsEndpoint, useDualstackEndpoint } = this.#config;
    const [Region, Endpoint, UseFIPS, UseDualStack] = await Promise.all([
      region(),
      serviceConfiguredEndpoint?.(),
      useFipsEndpoint(),
      useDualstackEndpoint(),
    ]);
    const { url } = endpointProvider({ Region, UseFIPS, UseDualStack, ...(Endpoint !== undefined && { Endpoint }) });
    return { url, signer: new RequestSigner(Region, 'dynamodb') };
  }
}

/** Returns the text of a response's body. Unlike `text` of `node:stream/consumers`, it needs no iterator, which takes CPU time. */
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

/** Returns the error of a response, with the name that AWS gave it. */
function toError({ status, headers, body }: Reply): Error {
  const { __type = '', message, Message, ...fields } = parseError(body);
  const name = String(__type).split('#').at(-1) || `HTTP ${status}`;
  const requestId = headers['x-amzn-requestid'];
  const $metadata = { httpStatusCode: status, ...(requestId !== undefined && { requestId }) };
  const text = [message, Message, name].find((part) => typeof part === 'string') ?? name;
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message: text, $metadata, ...fields });
  const $fault = status < 500 ? 'client' : 'server';
  return Object.assign(new DynamoDBServiceException({ name, message: text, $fault, $metadata }), fields);
}

/** Returns the fields of an error's body. A proxy can answer with text that is not JSON. */
function parseError(body: string): Json {
  try {
    return fromErrorBody(body);
  } catch {
    return {};
  }
}

const THROTTLING: ReadonlySet<string> = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([500, 502, 503, 504]);
const TRANSIENT: ReadonlySet<string | undefined> = new Set([
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** Returns the kind of an error, as the SDK's retry strategy names it. It repeats calls after throttling and transient errors. */
function errorTypeOf(error: CallError & { readonly code?: string }): 'THROTTLING' | 'TRANSIENT' | 'CLIENT_ERROR' {
  const { name, code, message, $metadata: { httpStatusCode = 0 } = {} } = error;
  if (httpStatusCode === 429 || THROTTLING.has(name)) return 'THROTTLING';
  // A stream that ends early has no code.
  const isTransient =
    TRANSIENT_STATUS.has(httpStatusCode) || TRANSIENT.has(name) || TRANSIENT.has(code) || message === 'aborted';
  // The request waited so long for a connection that its signature expired.
  const isExpired = name === 'InvalidSignatureException' && message.includes('Signature expired');
  return isTransient || isExpired ? 'TRANSIENT' : 'CLIENT_ERROR';
}
