import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A function that threw, could not start or did not end in time. */
export class FunctionFault extends Error {}

interface Invocation {
  readonly id: string;
  readonly event: string;
  readonly deadline: number;
  readonly answer: PromiseWithResolvers<string>;
}

const API = '/2018-06-01/runtime';

/**
 * The Runtime API of Lambda for one function process. Its client asks for the next invocation, and posts the answer or the error
 * of each.
 */
export class RuntimeApi {
  readonly #server: Server;
  readonly #functionArn: string;
  readonly #started: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #waiting: Invocation[] = [];
  readonly #running = new Map<string, Invocation>();
  #idle: ServerResponse | undefined;

  private constructor(server: Server, functionArn: string) {
    this.#server = server;
    this.#functionArn = functionArn;
    // `started` has a handler, so an error before anyone waits does not end the process of the test.
    this.#started.promise.catch(() => undefined);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#handle(request, response));
  }

  static async listen(functionArn: string): Promise<RuntimeApi> {
    // The client keeps its connection while it runs an invocation.
    const server = createServer({ keepAliveTimeout: 0 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new RuntimeApi(server, functionArn);
  }

  /** The value of AWS_LAMBDA_RUNTIME_API. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when the client asks for its first invocation. Rejects if the function could not be loaded. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Passes an event to the function and returns its answer as JSON. Throws a `FunctionFault`. */
  async invoke(event: unknown, deadline: number): Promise<unknown> {
    const invocation = {
      id: randomUUID(),
      event: JSON.stringify(event),
      deadline,
      answer: Promise.withResolvers<string>(),
    };
    this.#waiting.push(invocation);
    this.#passNext();
    return JSON.parse(await invocation.answer.promise) as unknown;
  }

  /** Rejects everything that waits for the function. */
  fail(message: string): void {
    const fault = new FunctionFault(message);
    this.#started.reject(fault);
    for (const { answer } of [...this.#running.values(), ...this.#waiting.splice(0)]) answer.reject(fault);
    this.#running.clear();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = await textOf(request);
    if (`${method} ${url}` === `GET ${API}/invocation/next`) {
      this.#idle = response;
      this.#started.resolve();
      this.#passNext();
      return;
    }
    const [, id = '', outcome] =
      /^POST \/2018-06-01\/runtime\/invocation\/([^/]+)\/(response|error)$/.exec(`${method} ${url}`) ?? [];
    const invocation = this.#running.get(id);
    this.#running.delete(id);
    if (`${method} ${url}` === `POST ${API}/init/error`) this.fail(`The function cannot be loaded: ${body}`);
    else if (!invocation) return void response.writeHead(400).end();
    else if (outcome === 'response') invocation.answer.resolve(body);
    else invocation.answer.reject(new FunctionFault(body));
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  }

  #passNext(): void {
    if (!this.#idle) return;
    const invocation = this.#waiting.shift();
    if (!invocation) return;
    this.#running.set(invocation.id, invocation);
    this.#idle
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': invocation.id,
        'lambda-runtime-deadline-ms': invocation.deadline,
        'lambda-runtime-invoked-function-arn': this.#functionArn,
        'lambda-runtime-trace-id': 'Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0',
      })
      .end(invocation.event);
    this.#idle = undefined;
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
