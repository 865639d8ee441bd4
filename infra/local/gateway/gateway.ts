import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FunctionModel } from '../assembly/functionModel.ts';
import type { RouteModel } from '../assembly/model.ts';
import { hostOf, isForLoopback } from '../loopbackHost.ts';
import { StartError } from '../startError.ts';
import { httpApiEvent, splitTarget } from './httpApiEvent.ts';
import { type GatewayResponse, gatewayResponse, httpApiResponse } from './httpApiResponse.ts';

/** Limits of API Gateway for a body, of Lambda for an event and a result, of API Gateway for all headers. */
const BODY_BYTES = 10 * 1024 * 1024;
const EVENT_BYTES = 6_291_456;
const ANSWER_BYTES = 6_291_556;
const HEADER_BYTES = 10_240;
/** Most clients read the response only after they have sent the body, so the gateway discards up to this much of it. */
const DISCARDED_BYTES = 64 * 1024 * 1024;

const TOO_LARGE = gatewayResponse(413, 'Request Entity Too Large');
const UNAVAILABLE = gatewayResponse(503, 'Service Unavailable');
const FAILED = gatewayResponse(500, 'Internal Server Error');

/** The prefix of all local pages except the start page at `/`. */
const LOCAL_PATH = '/_local/';

/** Variables of API Gateway, by the name after `$context.`. */
export type AccessContext = Readonly<Record<string, string>>;

interface RequestProgress {
  route?: string;
  integrationMilliseconds?: number;
  integrationError?: string;
}

export interface LocalRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface GatewayOptions {
  readonly routes: readonly RouteModel[];
  /** `payload` and the result are JSON texts. */
  invoke(model: FunctionModel, payload: string): Promise<string>;
  local(request: LocalRequest): Promise<GatewayResponse>;
  measure(status: number, milliseconds: number): void;
  logAccess(context: AccessContext): void;
}

export class Gateway {
  readonly #server: Server;
  #open: (Omit<GatewayOptions, 'routes'> & { readonly routes: ReadonlyMap<string, RouteModel> }) | undefined;
  readonly #allowedHosts: ReadonlySet<string>;
  #stopping = false;

  private constructor(server: Server, allowedHosts: readonly string[]) {
    this.#server = server;
    this.#allowedHosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#respond(request, response));
    // With `Expect: 100-continue`, a body whose `content-length` is too large is refused before it is sent.
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      if (this.#isAllowed(request) && !declaredTooLarge(request)) response.writeContinue();
      void this.#respond(request, response);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseMalformed(error, socket));
  }

  /**
   * Throws a `StartError` if the port is in use or not allowed. Until `open` is called, no request reaches a function.
   * `allowedHosts` are Host headers besides the loopback names.
   */
  static async listen(port: number, allowedHosts: readonly string[] = []): Promise<Gateway> {
    const server = createServer({ maxHeaderSize: HEADER_BYTES, keepAliveTimeout: 60_000 });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening').catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE')
        throw new StartError(
          `Port ${port} is used by another program. Set PORT to another port, or to 0 for any free port.`,
        );
      if (code === 'EACCES')
        throw new StartError(`Port ${port} is not allowed for this user. Set PORT to a port above 1023.`);
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

  /** Accepts no new requests. Waits for running ones, for at most `patienceMilliseconds`. */
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
    const [receivedAt, time] = [performance.now(), Date.now()];
    const progress: RequestProgress = {};
    const { status, headers, body } = await (
      isLocal(request) ? this.#answerLocal(request) : this.#answer(request, requestId, progress)
    ).catch((error: unknown) => {
      // A client that disconnected early also causes an error here.
      if (!request.socket.destroyed)
        process.stderr.write(`The gateway failed: ${String((error as Error).stack ?? error)}\n`);
      return FAILED;
    });
    const { connection: _, 'transfer-encoding': __, ...functionHeaders } = headers;
    const closing = this.#stopping || !request.complete ? { connection: 'close' } : {};
    const gatewayHeaders = { 'content-length': body.length, 'apigw-requestid': requestId, ...closing };
    try {
      response.writeHead(status, { ...functionHeaders, ...gatewayHeaders }).end(body);
    } catch {
      // The function returned headers that HTTP does not allow.
      response
        .writeHead(FAILED.status, { ...FAILED.headers, ...gatewayHeaders, 'content-length': FAILED.body.length })
        .end(FAILED.body);
    }
    if (isLocal(request)) return;
    const milliseconds = performance.now() - receivedAt;
    this.#open?.measure(response.statusCode, milliseconds);
    this.#open?.logAccess({
      requestId,
      requestTimeEpoch: String(time),
      'identity.sourceIp': sourceIpOf(request),
      httpMethod: request.method ?? '',
      path: splitTarget(request.url ?? '/').path,
      status: String(response.statusCode),
      responseLength: String(body.length),
      responseLatency: String(Math.round(milliseconds)),
      ...(progress.route !== undefined && { routeKey: progress.route }),
      // As in API Gateway, `integrationStatus` is the status of Lambda and not that of the function.
      ...(progress.integrationMilliseconds !== undefined && {
        integrationStatus: '200',
        integrationLatency: String(Math.round(progress.integrationMilliseconds)),
      }),
      ...(progress.integrationError !== undefined && { integrationErrorMessage: progress.integrationError }),
    });
  }

  /** Local pages can stop parts of the system, so they never accept the hosts of ALLOWED_HOSTS. */
  #isAllowed(request: IncomingMessage): boolean {
    return isForLoopback(request) || (!isLocal(request) && this.#allowedHosts.has(hostOf(request) ?? ''));
  }

  #refuseHost({ headersDistinct: { host = [] } }: IncomingMessage, requestId: string): GatewayResponse {
    const message = `The Host header ${JSON.stringify(host.join(', '))} is not allowed. Call ${this.url}, or name the host in ALLOWED_HOSTS.`;
    const body = Buffer.from(JSON.stringify({ error: { status: 'PERMISSION_DENIED', message } }));
    return { status: 403, headers: { 'content-type': 'application/json', 'x-request-id': requestId }, body };
  }

  async #answerLocal(request: IncomingMessage): Promise<GatewayResponse> {
    const { method = '', url = '/', headers } = request;
    if (!this.#isAllowed(request)) return gatewayResponse(403, `These pages are available at ${this.url} only`);
    const body = await readBody(request);
    if (!body) return TOO_LARGE;
    if (!this.#open) return UNAVAILABLE;
    const { path, query } = splitTarget(url);
    const singleHeaders = Object.entries(headers).map(
      ([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const,
    );
    return this.#open.local({
      method,
      path,
      query: new URLSearchParams(query),
      headers: Object.fromEntries(singleHeaders),
      body,
    });
  }

  async #answer(request: IncomingMessage, requestId: string, progress: RequestProgress): Promise<GatewayResponse> {
    const receivedAt = Date.now();
    if (!this.#isAllowed(request)) return this.#refuseHost(request, requestId);
    const body = declaredTooLarge(request) && request.headers.expect ? undefined : await readBody(request);
    if (!body) return TOO_LARGE;
    if (!this.#open) return UNAVAILABLE;
    const { routes, invoke } = this.#open;

    const { method = '', url = '/', httpVersion, rawHeaders } = request;
    const { path } = splitTarget(url);
    const route =
      routes.get(`${method} ${path}`) ??
      routes.get(`ANY ${path}`) ??
      routeWithParameter(routes, method, path) ??
      routes.get(`${method} /{proxy+}`) ??
      routes.get('$default');
    if (!route) return gatewayResponse(404, 'Not Found');
    progress.route = route.key;

    const sourceIp = sourceIpOf(request);
    const event = JSON.stringify(
      httpApiEvent({ method, url, httpVersion, rawHeaders, sourceIp, body, requestId, receivedAt }, route.key),
    );
    if (Buffer.byteLength(event) > EVENT_BYTES) return TOO_LARGE;
    const calledAt = performance.now();
    progress.integrationMilliseconds = 0;
    const answer = invoke(route.function, event).then(answerOf, (error: unknown) => {
      progress.integrationError = error instanceof Error ? error.message : String(error);
      return FAILED;
    });
    const inTime = await answerInTime(route.timeoutMilliseconds, answer);
    progress.integrationMilliseconds = performance.now() - calledAt;
    return inTime;
  }
}

/** Ignores `x-forwarded-for`, which any client can send. */
function sourceIpOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

/** The parameter stands for the last part of `path`, which must not be empty. */
function routeWithParameter(
  routes: ReadonlyMap<string, RouteModel>,
  method: string,
  path: string,
): RouteModel | undefined {
  const parent = path.slice(0, path.lastIndexOf('/') + 1);
  if (parent === path || parent === '/') return undefined;
  const key = [...routes.keys()].find((each) => each.startsWith(`${method} ${parent}{`) && each.endsWith('}'));
  return key === undefined ? undefined : routes.get(key);
}

function isLocal(request: IncomingMessage): boolean {
  const { method, url = '' } = request;
  if (url.startsWith(LOCAL_PATH)) return true;
  // For a host of ALLOWED_HOSTS, `/` is a path of the API.
  return method === 'GET' && splitTarget(url).path === '/' && isForLoopback(request);
}

function answerOf(payload: string): GatewayResponse {
  if (Buffer.byteLength(payload) > ANSWER_BYTES) return FAILED;
  return httpApiResponse(payload) ?? FAILED;
}

async function answerInTime(milliseconds: number, answer: Promise<GatewayResponse>): Promise<GatewayResponse> {
  const { promise: timedOut, resolve } = Promise.withResolvers<GatewayResponse>();
  const timer = setTimeout(resolve, milliseconds, UNAVAILABLE);
  try {
    return await Promise.race([answer, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

function declaredTooLarge(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > BODY_BYTES;
}

/** Returns undefined if the body is too large. Keeps at most `BODY_BYTES` in memory. */
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
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const body = JSON.stringify({ message: isTooLong ? 'Request Header Fields Too Large' : 'Bad Request' });
  const status = isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}
