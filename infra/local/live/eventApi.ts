import { hash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { parseJson } from '../../../lib/shared/parseJson.ts';
import type { AuthMode, EventApiModel } from '../assembly/eventApiModel.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { isAllowed } from '../iam/iam.ts';
import { ACCOUNT } from '../iam/identity.ts';
import type { Principals } from '../iam/principals.ts';
import { readAuthorization } from '../iam/signature.ts';
import { isForLoopback } from '../loopbackHost.ts';
import { StoppableServer } from '../stoppableServer.ts';
import { type ChannelPath, eventsFault, isSubscribed, quotas, readChannel } from './channels.ts';

const HTTP_PATH = '/event';
const REALTIME_PATH = '/event/realtime';
const PROTOCOL = 'aws-appsync-event-ws';
const HEADER_PREFIX = 'header-';
const KEEP_ALIVE_MILLISECONDS = 60_000;
const CONNECTION_TIMEOUT_MILLISECONDS = 300_000;
/** Five events of the largest size, with the JSON around them. A larger message gets an error. */
const MESSAGE_BYTES = quotas.eventsPerPublish * quotas.eventBytes + 64 * 1024;
/** A larger message is not read, and its connection ends. */
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;
/** A client that reads too slowly is disconnected when so much waits for it. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

export interface EventApiOptions {
  readonly model: EventApiModel;
  readonly principals: Principals;
  /** `payload` and the result are JSON texts. */
  readonly invoke: (model: FunctionModel, payload: string) => Promise<string>;
}

type Operation = 'EVENT_CONNECT' | 'EVENT_SUBSCRIBE' | 'EVENT_PUBLISH';

class ProtocolError extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

interface Connection {
  readonly socket: WebSocket;
  readonly subscriptions: Map<string, ChannelPath>;
}

interface Message {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly channel?: unknown;
  readonly events?: unknown;
  readonly authorization?: unknown;
}

/** The Event API of AppSync, with the quotas of a single client. It calls the authorizer of the template. */
export class EventApi {
  readonly #server: StoppableServer;
  readonly #sockets: WebSocketServer;
  readonly #connections = new Set<Connection>();
  readonly #keepAlive: NodeJS.Timeout;
  #options: EventApiOptions | undefined;

  private constructor(server: StoppableServer) {
    this.#server = server;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_PAYLOAD_BYTES,
      handleProtocols: () => PROTOCOL,
    });
    server.setListener((request, response) => void this.#answerHttp(request, response));
    server.setUpgradeListener((request, socket, head) => void this.#upgrade(request, socket, head));
    this.#keepAlive = setInterval(() => this.#sendAll({ type: 'ka' }), KEEP_ALIVE_MILLISECONDS);
    this.#keepAlive.unref();
  }

  static async listen(): Promise<EventApi> {
    return new EventApi(await StoppableServer.create());
  }

  get url(): string {
    return this.#server.url;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  open(options: EventApiOptions): void {
    this.#options = options;
  }

  /** Disconnects all clients and refuses others until `reopen`. */
  async close(): Promise<void> {
    for (const { socket } of this.#connections) socket.terminate();
    await this.#server.close();
  }

  reopen(): Promise<void> {
    return this.#server.open();
  }

  async end(): Promise<void> {
    clearInterval(this.#keepAlive);
    await this.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      await this.#authorizeConnection(request);
      // `close` ends only existing connections, so none may start after it.
      if (!this.#server.isOpen) socket.destroy();
      if (socket.destroyed) return;
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#connect(webSocket));
    } catch (error) {
      const { status, text } = errorBody(error);
      socket.end(
        `HTTP/1.1 ${status} ${status === 401 ? 'Unauthorized' : 'Error'}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
      );
    }
  }

  /** Browsers cannot set headers for a WebSocket, so the authorization is one of the subprotocols. */
  async #authorizeConnection(request: IncomingMessage): Promise<void> {
    requireLoopback(request);
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== REALTIME_PATH) throw new ProtocolError('NotFoundException', 'Connect to /event/realtime', 404);
    const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const header = protocols.find((name) => name.startsWith(HEADER_PREFIX));
    if (!protocols.includes(PROTOCOL) || header === undefined)
      throw new ProtocolError(
        'BadRequestException',
        `Name the subprotocols ${PROTOCOL} and ${HEADER_PREFIX}<base64url of the authorization>`,
      );
    const text = Buffer.from(header.slice(HEADER_PREFIX.length), 'base64url').toString();
    await this.#authorizeUser(parseMessage(text), 'EVENT_CONNECT');
  }

  #connect(socket: WebSocket): void {
    const connection = { socket, subscriptions: new Map<string, ChannelPath>() };
    this.#connections.add(connection);
    socket.on('close', () => this.#connections.delete(connection));
    // An invalid frame ends only the connection that sent it.
    socket.on('error', () => socket.terminate());
    // Messages are processed one after the other, so the answers have their order.
    let last = Promise.resolve();
    socket.on('message', (data: Buffer) => {
      last = last.then(() => this.#receive(connection, data));
    });
  }

  async #receive(connection: Connection, data: Buffer): Promise<void> {
    let message: Message = {};
    try {
      if (data.length > MESSAGE_BYTES) throw new ProtocolError('BadRequestException', 'The message is too large');
      const parsed = parseMessage(data.toString());
      if (typeof parsed !== 'object' || parsed === null)
        throw new ProtocolError('BadRequestException', 'The message is not an object');
      message = parsed;
      await this.#handle(connection, message);
    } catch (error) {
      const { type, message: text } = toProtocolError(error);
      const kind = ['subscribe', 'unsubscribe', 'publish'].includes(String(message.type))
        ? `${String(message.type)}_error`
        : 'error';
      const id = typeof message.id === 'string' ? message.id.slice(0, 128) : undefined;
      send(connection.socket, { type: kind, id, errors: [{ errorType: type, message: text }] });
    }
  }

  async #handle(connection: Connection, message: Message): Promise<void> {
    const { socket, subscriptions } = connection;
    switch (message.type) {
      case 'connection_init':
        send(socket, { type: 'connection_ack', connectionTimeoutMs: CONNECTION_TIMEOUT_MILLISECONDS });
        return;
      case 'subscribe': {
        const id = idOf(message);
        if (subscriptions.has(id)) throw new ProtocolError('DuplicatedOperationError', 'The id is in use');
        if (subscriptions.size >= quotas.subscriptionsPerConnection)
          throw new ProtocolError('MaxSubscriptionsReachedError', 'The connection has too many subscriptions');
        const channel = this.#channelOf(message.channel, 'subscribe', 'AWS_LAMBDA');
        await this.#authorizeUser(message.authorization, 'EVENT_SUBSCRIBE', channel);
        subscriptions.set(id, channel);
        send(socket, { type: 'subscribe_success', id });
        return;
      }
      case 'unsubscribe': {
        const id = idOf(message);
        if (!subscriptions.delete(id)) throw new ProtocolError('UnknownOperationError', `Unknown operation id ${id}`);
        send(socket, { type: 'unsubscribe_success', id });
        return;
      }
      case 'publish': {
        const id = idOf(message);
        const channel = this.#channelOf(message.channel, 'publish', 'AWS_LAMBDA');
        await this.#authorizeUser(message.authorization, 'EVENT_PUBLISH', channel);
        send(socket, { type: 'publish_success', id, ...this.#publish(channel, message.events) });
        return;
      }
      default:
        throw new ProtocolError('UnsupportedOperation', 'The type of the message is not supported');
    }
  }

  async #answerHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = async () => {
      requireLoopback(request);
      if (request.method !== 'POST' || request.url !== HTTP_PATH)
        throw new ProtocolError('NotFoundException', 'Send POST to /event', 404);
      const body = await readBody(request);
      const message = (parseMessage(body.toString()) ?? {}) as Message;
      const signature = readAuthorization(request.headers.authorization);
      const mode: AuthMode = signature ? 'AWS_IAM' : 'AWS_LAMBDA';
      const channel = this.#channelOf(message.channel, 'publish', mode);
      if (signature) this.#authorizeRole(request, body, channel);
      else await this.#authorizeUser({ Authorization: request.headers.authorization }, 'EVENT_PUBLISH', channel);
      return { status: 200, text: JSON.stringify(this.#publish(channel, message.events)) };
    };
    const { status, text } = await answer().catch(errorBody);
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  }

  #authorizeRole(request: IncomingMessage, body: Buffer, { namespace }: ChannelPath): void {
    const { model, principals } = this.#opened();
    const authorization = readAuthorization(request.headers.authorization);
    const holder = authorization && principals.byAccessKey(authorization.accessKeyId);
    const { method = '', url = '', headers } = request;
    const bodyHash = hash('sha256', body, 'hex');
    if (!authorization || !holder?.isSignatureValid(authorization, { method, url, headers, bodyHash }))
      throw new ProtocolError('UnauthorizedException', 'The signature of the request is not valid', 401);
    const { statements, name } = holder.principal;
    const resource = `${model.arn}/channelNamespace/${namespace}`;
    if (statements === 'everything' || isAllowed(statements, 'appsync:EventPublish', resource)) return;
    process.stderr.write(`AccessDenied: ${name} may not appsync:EventPublish on ${resource}\n`);
    throw new ProtocolError('UnauthorizedException', 'The role may not publish to this namespace', 401);
  }

  async #authorizeUser(authorization: unknown, operation: Operation, channel?: ChannelPath): Promise<void> {
    const { model, invoke } = this.#opened();
    const { Authorization, authorization: lowerCase } = (authorization ?? {}) as Record<string, unknown>;
    const token = Authorization ?? lowerCase;
    if (typeof token !== 'string' || token === '' || token.length > quotas.tokenCharacters) throw unauthorized();
    const event = {
      authorizationToken: token,
      requestContext: {
        apiId: 'local',
        accountId: ACCOUNT,
        requestId: randomUUID(),
        operation,
        ...(channel && { channelNamespaceName: channel.namespace, channel: channel.path }),
      },
      requestHeaders: {},
    };
    const answer = await invoke(model.authorizer, JSON.stringify(event)).catch(() => '{}');
    if ((JSON.parse(answer) as { isAuthorized?: unknown } | null)?.isAuthorized !== true) throw unauthorized();
  }

  #channelOf(value: unknown, operation: 'publish' | 'subscribe', mode: AuthMode): ChannelPath {
    const channel = readChannel(value, { pattern: operation === 'subscribe' });
    if (!channel) throw new ProtocolError('BadRequestException', 'The path of the channel is not valid');
    const namespace = this.#opened().model.namespaces.get(channel.namespace);
    // The error does not tell whether the namespace exists.
    if (!namespace?.[operation].includes(mode)) throw unauthorized();
    return channel;
  }

  #publish({ path }: ChannelPath, events: unknown) {
    const fault = eventsFault(events);
    if (fault !== undefined) throw new ProtocolError('BadRequestException', fault);
    const texts = events as string[];
    // AWS's clients read `event` as a text. The AppSync guide shows a list with one text.
    for (const { socket, subscriptions } of this.#connections)
      for (const [id, channel] of subscriptions)
        if (isSubscribed(channel, path)) for (const event of texts) send(socket, { type: 'data', id, event });
    return { successful: texts.map((_text, index) => ({ identifier: randomUUID(), index })), failed: [] };
  }

  #sendAll(message: object): void {
    for (const { socket } of this.#connections) send(socket, message);
  }

  #opened(): EventApiOptions {
    if (!this.#options) throw new ProtocolError('ServiceUnavailableException', 'The system is starting', 503);
    return this.#options;
  }
}

function requireLoopback(request: IncomingMessage): void {
  if (!isForLoopback(request))
    throw new ProtocolError('ForbiddenException', 'The Event API is reached as 127.0.0.1 or localhost only', 403);
}

function idOf({ id }: Message): string {
  if (typeof id === 'string' && /^[\w+-]{1,128}$/.test(id)) return id;
  throw new ProtocolError('BadRequestException', 'The id must have 1 to 128 letters, digits, and characters of _+-');
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.terminate();
  else socket.send(JSON.stringify(message));
}

function parseMessage(text: string): object | null {
  const message = parseJson(text);
  if (message === undefined) throw new ProtocolError('BadRequestException', 'The message is not valid JSON');
  return message;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MESSAGE_BYTES) throw new ProtocolError('BadRequestException', 'The request is too large', 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function unauthorized(): ProtocolError {
  return new ProtocolError('UnauthorizedException', 'You are not authorized to make this call', 401);
}

function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  process.stderr.write(`The local Event API failed: ${String((error as Error).stack ?? error)}\n`);
  return new ProtocolError('InternalFailure', 'The local Event API failed', 500);
}

function errorBody(error: unknown): { status: number; text: string } {
  const { type: errorType, message, status } = toProtocolError(error);
  return { status, text: JSON.stringify({ errors: [{ errorType, message }] }) };
}
