import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { LocalRequest } from '../console/localRequest.ts';
import { gatewayAnswer, type GatewayAnswer, httpApiAnswer } from './httpApiAnswer.ts';
import { isLoopbackHost } from '../hosts.ts';
import { httpApiEvent, splitTarget } from './httpApiEvent.ts';
import type { RouteModel } from '../assembly/model.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { StartError } from '../startError.ts';

/** What an HTTP API takes of a body, and Lambda of an event and an answer. */
const BODY_BYTES = 10 * 1024 * 1024;
const EVENT_BYTES = 6_291_456;
const ANSWER_BYTES = 6_291_556;
/** An HTTP API refuses request lines and headers that are longer in all. */
const HEADER_BYTES = 10_240;
/** So much of a body that is too large is read on and thrown away, because most clients listen only when they have sent it all. */
const DISCARDED_BYTES = 64 * 1024 * 1024;

const TOO_LARGE = gatewayAnswer(413, 'Request Entity Too Large');
const UNAVAILABLE = gatewayAnswer(503, 'Service Unavailable');
const FAILED = gatewayAnswer(500, 'Internal Server Error');

/** Paths that no API has: they lead to pages of the local run itself. */
const LOCAL_PATH = '/_local/';

export interface GatewayOptions {
  readonly routes: readonly RouteModel[];
  /** Calls a function with an event and gives its answer, both as JSON. */
  invoke(model: FunctionModel, payload: string): Promise<string>;
  /** Answers requests for the pages of the local run. */
  local(request: LocalRequest): Promise<GatewayAnswer>;
  /** Called after each request to the API. */
  measure(status: number, milliseconds: number): void;
}

/** The HTTP API on one machine: turns requests into events for the functions of the template's routes. */
export class Gateway {
  readonly #server: Server;
  #open: (Omit<GatewayOptions, 'routes'> & { readonly routes: ReadonlyMap<string, RouteModel> }) | undefined;
  readonly #allowedHosts: ReadonlySet<string>;
  #stopping = false;

  private constructor(server: Server, allowedHosts: readonly string[]) {
    this.#server = server;
    this.#allowedHosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#respond(request, response));
    // What is too large anyway is refused before the client sends it.
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isAllowed(request) && !declaredTooLarge(request)) response.writeContinue();
      void this.#respond(request, response);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseMalformed(error, socket));
  }

  /**
   * Takes the port, so that a run that cannot have it fails at once. Requests are answered by 503 until `open`. `allowedHosts` are Host headers
   * that requests to the API may carry besides the names of this machine.
   */
  static async listen(port: number, allowedHosts: readonly string[] = []): Promise<Gateway> {
    const server = createServer({ maxHeaderSize: HEADER_BYTES, keepAliveTimeout: 60_000 });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE')
        throw new StartError(
          `Port ${port} is taken by another program. Set PORT to another port, or to 0 for any free one.`,
        );
      if (error.code === 'EACCES')
        throw new StartError(`Port ${port} may not be used by this user. Set PORT to one above 1023.`);
      throw error;
    });
    return new Gateway(server, allowedHosts);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  open({ routes, ...options }: GatewayOptions): void {
    this.#open = { ...options, routes: new Map(routes.map((route) => [route.key, route])) };
  }

  /** Takes no new requests and waits for those under way, but not for ever. */
  async close(patienceMilliseconds: number): Promise<void> {
    this.#stopping = true;
    if (!this.#server.listening) return;
    this.#server.close();
    const timer = setTimeout(() => this.#server.closeAllConnections(), patienceMilliseconds);
    await once(this.#server, 'close');
    clearTimeout(timer);
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    const receivedAt = performance.now();
    const isLocal = request.url?.startsWith(LOCAL_PATH);
    const { status, headers, body } = await (
      isLocal ? this.#answerLocal(request) : this.#answer(request, requestId)
    ).catch((error: unknown) => {
      // A client that hung up is no fault, and nobody reads the answer.
      if (!request.destroyed) process.stderr.write(`The gateway failed: ${String((error as Error).stack ?? error)}\n`);
      return FAILED;
    });
    const { connection: _, 'transfer-encoding': __, ...passed } = headers;
    const closing = this.#stopping || !request.complete ? { connection: 'close' } : {};
    const own = { 'content-length': body.length, 'apigw-requestid': requestId, ...closing };
    try {
      response.writeHead(status, { ...passed, ...own }).end(body);
    } catch {
      // The function's headers hold what HTTP cannot carry.
      response
        .writeHead(FAILED.status, { ...FAILED.headers, ...own, 'content-length': FAILED.body.length })
        .end(FAILED.body);
    }
    if (!isLocal) this.#open?.measure(response.statusCode, performance.now() - receivedAt);
  }

  /** The pages of the local run can stop parts of it: they are for a browser on this machine only, whatever else is allowed. */
  #isAllowed({ headers: { host = '' }, url = '', socket }: IncomingMessage): boolean {
    return (
      isLoopbackHost(host, socket.localPort) ||
      (!url.startsWith(LOCAL_PATH) && this.#allowedHosts.has(host.toLowerCase()))
    );
  }

  #refuseHost({ headers: { host } }: IncomingMessage, requestId: string): GatewayAnswer {
    const message = `The Host header ${JSON.stringify(host)} is not allowed. Call ${this.url}, or name the host in ALLOWED_HOSTS.`;
    const body = Buffer.from(JSON.stringify({ error: { status: 'PERMISSION_DENIED', message } }));
    return { status: 403, headers: { 'content-type': 'application/json', 'x-request-id': requestId }, body };
  }

  async #answerLocal(request: IncomingMessage): Promise<GatewayAnswer> {
    const { method = '', url = '/', headers } = request;
    if (!this.#isAllowed(request)) return gatewayAnswer(403, `These pages are at ${this.url} only`);
    const body = await readBody(request);
    if (!body) return TOO_LARGE;
    if (!this.#open) return UNAVAILABLE;
    const { path, query } = splitTarget(url);
    const single = Object.entries(headers).map(
      ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const,
    );
    return this.#open.local({
      method,
      path,
      query: new URLSearchParams(query),
      headers: Object.fromEntries(single),
      body,
    });
  }

  async #answer(request: IncomingMessage, requestId: string): Promise<GatewayAnswer> {
    const receivedAt = Date.now();
    if (!this.#isAllowed(request)) return this.#refuseHost(request, requestId);
    const body = declaredTooLarge(request) && request.headers.expect ? undefined : await readBody(request);
    if (!body) return TOO_LARGE;
    if (!this.#open) return UNAVAILABLE;
    const { routes, invoke } = this.#open;

    const { method = '', url = '/', httpVersion, rawHeaders, socket } = request;
    const { path } = splitTarget(url);
    const route = routes.get(`${method} ${path}`) ?? routes.get(`ANY ${path}`) ?? routes.get('$default');
    if (!route) return gatewayAnswer(404, 'Not Found');

    // From the connection and never from a header, which anyone can send.
    const sourceIp = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const event = JSON.stringify(
      httpApiEvent({ method, url, httpVersion, rawHeaders, sourceIp, body, requestId, receivedAt }, route.key),
    );
    if (Buffer.byteLength(event) > EVENT_BYTES) return TOO_LARGE;
    return inTime(
      route.timeoutMilliseconds,
      invoke(route.function, event).then(answerOf, () => FAILED),
    );
  }
}

function answerOf(payload: string): GatewayAnswer {
  if (Buffer.byteLength(payload) > ANSWER_BYTES) return FAILED;
  return httpApiAnswer(payload) ?? FAILED;
}

async function inTime(milliseconds: number, answer: Promise<GatewayAnswer>): Promise<GatewayAnswer> {
  const { promise: late, resolve } = Promise.withResolvers<GatewayAnswer>();
  const timer = setTimeout(resolve, milliseconds, UNAVAILABLE);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function declaredTooLarge(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > BODY_BYTES;
}

/** The whole body; undefined when it is too large, of which at most the limit is ever in memory. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  let chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= BODY_BYTES) chunks.push(chunk);
    else chunks = [];
    if (size > DISCARDED_BYTES) return undefined;
  }
  return size > BODY_BYTES ? undefined : Buffer.concat(chunks);
}

function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const body = JSON.stringify({ message: tooLong ? 'Request Header Fields Too Large' : 'Bad Request' });
  const status = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}
