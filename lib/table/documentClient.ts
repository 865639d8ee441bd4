import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import { fromErrorBody, fromResponseBody, type Json, toRequestBody } from './attributeValues.ts';
import type { DocumentCommand } from './commands.ts';
import { DynamoDbService, type ErrorReply, type ServiceConfig } from './dynamoDbService.ts';
import { callSignal } from './retryOnConflict.ts';

export interface TableClient {
  send<Output>(command: DocumentCommand<Output>): Promise<Output>;
  destroy(): void;
}

const operations: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  TransactWrite: 'TransactWriteItems',
};

export function operationOf({ constructor: { name } }: Pick<DocumentCommand<unknown>, 'constructor'>): string {
  const short = name.replace(/Command$/, '');
  return operations[short] ?? short;
}

export const documentClients = {
  open: (client: () => DynamoDBClient): TableClient => new DocumentClient(client()),
};

/**
 * Executes the commands of the SDK's document client without its middlewares, in a tenth of the CPU time. An SDK client
 * provides credentials, endpoint, region, connections, timeouts and retries.
 */
class DocumentClient implements TableClient {
  readonly #service: DynamoDbService;
  readonly #searchService: DynamoDbService;

  constructor({ config }: DynamoDBClient) {
    this.#service = new DynamoDbService(serviceConfig(config, { isSearch: false }), toError);
    this.#searchService = new DynamoDbService(serviceConfig(config, { isSearch: true }), toError);
  }

  /**
   * Repeats failed attempts as the SDK would, and throws errors with AWS's names. Throws an AbortError after the
   * deadline of the request: Lambda would otherwise send a waiting call when it uses the instance again.
   */
  async send<Output>(command: DocumentCommand<Output>): Promise<Output> {
    const operation = operationOf(command);
    // DynamoDB executes a transaction with the same token once.
    const token = operation === 'TransactWriteItems' ? { ClientRequestToken: randomUUID() } : undefined;
    const service = operation === 'SearchVectors' ? this.#searchService : this.#service;
    const body = toRequestBody({ ...token, ...command.input });
    return fromResponseBody(await service.call(operation, body, { abortSignal: callSignal() })) as Output;
  }

  destroy(): void {
    this.#service.destroy();
  }
}

function serviceConfig(config: DynamoDBClient['config'], { isSearch }: { readonly isSearch: boolean }): ServiceConfig {
  return {
    credentials: config.credentials,
    region: config.region,
    requestHandler: config.requestHandler,
    async retryStrategy() {
      const strategy = await config.retryStrategy();
      if (!('acquireInitialRetryToken' in strategy)) throw new Error('The retry strategy has an old interface');
      return strategy as unknown as Awaited<ReturnType<ServiceConfig['retryStrategy']>>;
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

function toError({ status, requestId, body }: ErrorReply): Error {
  const { __type = '', message: text, Message, ...fields } = parsed(body);
  const name = String(__type).split('#').at(-1) || `HTTP ${status}`;
  const message = [text, Message].find((part) => typeof part === 'string') ?? name;
  const $metadata = { httpStatusCode: status, ...(requestId !== undefined && { requestId }) };
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message, $metadata, ...fields });
  const $fault = status < 500 ? 'client' : 'server';
  return Object.assign(new DynamoDBServiceException({ name, message, $fault, $metadata }), fields);
}

function parsed(body: string): Json {
  try {
    return fromErrorBody(body);
  } catch {
    return {};
  }
}
