import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { errorParts, type ErrorReply, type JsonConfig, JsonService } from '../net/jsonService.ts';
import { fromErrorBody, fromResponseBody, type Json, toRequestBody } from './attributeValues.ts';
import { callSignal } from './retryOnConflict.ts';

export interface DocumentCommand {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

/** The operations whose names differ from those of their document commands. */
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

/** Opens the document client of the table. Tests and benches replace `open`. */
export const documentClients = {
  open: (client: DynamoDBClient): DynamoDBDocumentClient =>
    new DocumentClient(client) as unknown as DynamoDBDocumentClient,
};

/**
 * Executes the commands of the SDK's document client without the SDK's middlewares, in a tenth of the CPU time. An SDK client
 * provides credentials, endpoint, region, connections, timeouts and retries. This class implements serialisation, signature and
 * errors.
 */
class DocumentClient {
  readonly #service: JsonService;
  /** DynamoDB answers vector searches at an address of their own, and no other operation there. */
  readonly #searchService: JsonService;

  constructor({ config }: DynamoDBClient) {
    const names = { signingName: 'dynamodb', target: 'DynamoDB_20120810', version: '1.0' } as const;
    this.#service = new JsonService(jsonConfig(config, { isSearch: false }), names, toError);
    this.#searchService = new JsonService(jsonConfig(config, { isSearch: true }), names, toError);
  }

  /**
   * Executes a command and returns its output. Repeats failed attempts as the SDK would. If the last attempt fails too, throws an
   * error with AWS's error name. Throws an AbortError after the deadline of the current request. Otherwise, a call that still waits
   * then would be sent when Lambda uses the instance for the next request, perhaps minutes later.
   */
  async send(command: DocumentCommand): Promise<Json> {
    const operation = operationOf(command);
    // If a transaction is sent again with the same token, DynamoDB does not execute it a second time.
    const token = operation === 'TransactWriteItems' ? { ClientRequestToken: randomUUID() } : undefined;
    const service = operation === 'SearchVectors' ? this.#searchService : this.#service;
    const body = toRequestBody({ ...token, ...command.input });
    return fromResponseBody(await service.call(operation, body, { abortSignal: callSignal() }));
  }

  /** Closes the connections. Both services share them. */
  destroy(): void {
    this.#service.destroy();
  }
}

/** Returns the parts of an SDK client's configuration that `JsonService` needs. */
function jsonConfig(config: DynamoDBClient['config'], { isSearch }: { readonly isSearch: boolean }): JsonConfig {
  return {
    credentials: config.credentials,
    region: config.region,
    requestHandler: config.requestHandler,
    async retryStrategy() {
      const strategy = await config.retryStrategy();
      if (!('acquireInitialRetryToken' in strategy)) throw new Error('The retry strategy has an old interface');
      return strategy as unknown as Awaited<ReturnType<JsonConfig['retryStrategy']>>;
    },
    async url() {
      const { endpointProvider, region, serviceConfiguredEndpoint, useFipsEndpoint, useDualstackEndpoint } = config;
      const [Region, Endpoint, UseFIPS, UseDualStack] = await Promise.all([
        region(),
        serviceConfiguredEndpoint?.(),
        useFipsEndpoint(),
        useDualstackEndpoint(),
      ]);
      const parameters = { Region, UseFIPS, UseDualStack, IsSearchOperation: isSearch };
      return endpointProvider({ ...parameters, ...(Endpoint !== undefined && { Endpoint }) }).url;
    },
  };
}

/** Returns an error with the name and the fields of an error response. */
function toError(reply: ErrorReply): Error {
  const { fields, ...parts } = errorParts(reply, fromErrorBody);
  const { name, message, $metadata } = parts;
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message, $metadata, ...fields });
  return Object.assign(new DynamoDBServiceException(parts), fields);
}
