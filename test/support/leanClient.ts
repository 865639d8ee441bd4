import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as sdk from '@aws-sdk/lib-dynamodb';
import { Connections, type Reply } from '../../infra/local/table/connections.ts';
import { findRequestFault, type IndexKeySizes } from '../../infra/local/table/requestFault.ts';
import { indexNames } from '../../lib/app/capability.ts';
import { fromErrorBody, fromResponseBody, toRequestBody } from '../../lib/table/attributeValues.ts';
import { documentClients, operationOf, type TableClient as OpenedClient } from '../../lib/table/documentClient.ts';
import { callService } from './permissions.ts';

type Json = Record<string, any>;

/** A command of the document client. */
export interface Command {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

/** A client of a table, with the commands of the document client. */
export interface TableClient {
  send(command: Command): Promise<Json>;
  destroy(): void;
}

/** The maximum bytes of an index key in DynamoDB. The engine does not check them. */
export const indexKeySizes: IndexKeySizes = new Map(
  indexNames.flatMap((name): [string, number][] => [
    [`${name}pk`, 2_048],
    [`${name}sk`, 1_024],
  ]),
);

/** Returns the headers of a call. The engine reads the access key in them, but does not check the signature. */
const headers = () =>
  [
    'content-type: application/x-amz-json-1.0',
    'x-amz-date: 20260101T000000Z',
    `authorization: AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID ?? 'test'}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
    '',
  ].join('\r\n');

/**
 * A client of the engine that does only what `Table` needs. It makes no signatures and no retries. With the SDK, tests
 * with tens of thousands of calls would spend most of their time in it.
 */
export class LeanClient implements TableClient {
  readonly #connections = new Connections(process.env.AWS_ENDPOINT_URL_DYNAMODB!);
  readonly #headers = headers();

  async send(command: Command): Promise<Json> {
    const operation = operationOf(command);
    const fault = findRequestFault(operation, command.input, indexKeySizes);
    if (fault !== undefined) throw errorOf(400, { __type: 'ValidationException', message: fault });
    const { status, body } = await this.#post(operation, toRequestBody(command.input));
    if (status === 200) return fromResponseBody(body);
    throw errorOf(status, fromErrorBody(body));
  }

  destroy(): void {
    this.#connections.destroy();
  }

  #post(operation: string, body: string): Promise<Reply> {
    return this.#connections.post(`${this.#headers}x-amz-target: DynamoDB_20120810.${operation}\r\n`, body);
  }
}

const openDeployed = documentClients.open;

/** After this call, tables are opened with a lean client. */
export function openTablesLean(): void {
  documentClients.open = () => asDocumentClient(new LeanClient());
}

/** After this call, tables are opened with the SDK's client, as in a deployment. */
export function openTablesWithSdk(): void {
  documentClients.open = (client) => asDocumentClient(openDeployed(client));
}

/** Returns a client for `Table`. Its calls need the permissions of the running function. */
export function asDocumentClient(client: Pick<TableClient, 'send'>): OpenedClient {
  const send = (command: Command) =>
    callService({ service: 'DynamoDB', operation: operationOf(command), input: command.input }, () =>
      client.send(command),
    );
  return { send } as unknown as OpenedClient;
}

/** Returns a client that dies at a call, before or after its effect, and the names of the calls so far. */
export function dyingClient(
  client: Pick<TableClient, 'send'>,
  callNumber: number,
  when: 'before' | 'after',
): { readonly client: OpenedClient; readonly calls: readonly string[] } {
  const calls: string[] = [];
  const dying = asDocumentClient({
    async send(command) {
      if (calls.length >= callNumber) throw new Error('killed');
      calls.push(command.constructor.name);
      if (calls.length < callNumber) return client.send(command);
      if (when === 'after') await client.send(command);
      throw new Error('killed');
    },
  });
  return { client: dying, calls };
}

/**
 * Returns a client that sends all calls with the document client of the SDK, through the middlewares of `client`. Adds `more` to
 * each input.
 */
export function sdkDocumentClient(client: DynamoDBClient, more: object = {}): OpenedClient {
  const documents = sdk.DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return asDocumentClient({
    send({ constructor: { name }, input }) {
      const Command = sdk[name as 'GetCommand'];
      return documents.send(new Command({ ...(input as sdk.GetCommandInput), ...more }));
    },
  });
}

function errorOf(status: number, { __type = '', message, Message, ...more }: Json): Error {
  const name = String(__type).split('#').at(-1)!;
  const $metadata = { httpStatusCode: status, attempts: 1 };
  const text = message ?? Message ?? name;
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message: text, $metadata, ...(more.Item && { Item: more.Item }) });
  return Object.assign(new Error(text), { ...more, name, $metadata });
}
