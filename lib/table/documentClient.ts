import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  type DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { fromErrorBody, fromResponseBody, type Json, toRequestBody } from './attributeValues.ts';
import { type ErrorReply, errorParts, type JsonConfig, JsonService } from '../net/jsonService.ts';

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

/**
 * Executes the commands of the SDK's document client in a tenth of its CPU time. Credentials, endpoint, region, connections, timeouts and
 * retries are those of an SDK client. Serialisation, signature and errors are its own. The SDK spends its time in the middlewares of each call.
 */
class DocumentClient {
  readonly #service: JsonService;

  constructor({ config }: DynamoDBClient) {
    const names = { signingName: 'dynamodb', target: 'DynamoDB_20120810', version: '1.0' } as const;
    this.#service = new JsonService(jsonConfig(config), names, toError);
  }

  /** Executes a command. Throws errors that have the names of AWS errors, after as many attempts as the SDK makes. */
  async send(command: DocumentCommand): Promise<Json> {
    const operation = operationOf(command);
    // A repeated transaction with the same token is executed once.
    const token = operation === 'TransactWriteItems' ? { ClientRequestToken: randomUUID() } : undefined;
    return fromResponseBody(await this.#service.call(operation, toRequestBody({ ...token, ...command.input })));
  }

  destroy(): void {
    this.#service.destroy();
  }
}

/** Returns the parts of an SDK client's configuration that calls need. */
function jsonConfig(config: DynamoDBClient['config']): JsonConfig {
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
      return endpointProvider({ Region, UseFIPS, UseDualStack, ...(Endpoint !== undefined && { Endpoint }) }).url;
    },
  };
}

/** Returns the error of a response, with the name that AWS gave it. */
function toError(reply: ErrorReply): Error {
  const { fields, ...parts } = errorParts(reply, fromErrorBody);
  const { name, message, $metadata } = parts;
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message, $metadata, ...fields });
  return Object.assign(new DynamoDBServiceException(parts), fields);
}
