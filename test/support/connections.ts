import { connect, type Socket } from 'node:net';

/** What came back for a request. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

interface Request extends PromiseWithResolvers<Reply> {
  readonly message: string;
}

const MOST = 32;

/**
 * Posts to a server on this machine that says how long its answers are, over a few connections that stay open. It knows of HTTP what that
 * takes and no more: with Node's client, tests spend more time in asking the engine than the engine does in answering.
 */
export class Connections {
  readonly #url: URL;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting: Request[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Posts to the root; `headers` are whole lines. */
  post(headers: string, body: string): Promise<Reply> {
    const message = `POST / HTTP/1.1\r\nhost: ${this.#url.host}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const request = { message, ...Promise.withResolvers<Reply>() };
    const connection = this.#idle.pop() ?? (this.#open.size < MOST ? this.#connect() : undefined);
    // One request at a time on each: the server holds a second answer back until the first is acknowledged.
    if (connection) connection.send(request);
    else this.#waiting.push(request);
    return request.promise;
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #connect(): Connection {
    const connection = new Connection(
      this.#url,
      () => {
        const next = this.#waiting.shift();
        if (next) connection.send(next);
        else this.#idle.push(connection);
      },
      () => {
        this.#open.delete(connection);
        if (this.#idle.includes(connection)) this.#idle.splice(this.#idle.indexOf(connection), 1);
        const next = this.#waiting.shift();
        if (next) this.#connect().send(next);
      },
    );
    this.#open.add(connection);
    return connection;
  }
}

/** One connection, with at most one request under way. */
class Connection {
  readonly #socket: Socket;
  readonly #free: () => void;
  #request: Request | undefined;
  #received: Buffer[] = [];
  #size = 0;
  /** Before so many bytes are there, it is no use to look at them. */
  #enough = 1;

  constructor({ hostname, port }: URL, free: () => void, closed: () => void) {
    this.#free = free;
    let failure: Error | undefined;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
      .on('error', (error) => (failure = error))
      .on('data', (bytes) => this.#take(bytes))
      .on('close', () => {
        this.#request?.reject(failure ?? new Error('The connection was closed before the answer was there'));
        this.#request = undefined;
        closed();
      });
  }

  send(request: Request): void {
    this.#request = request;
    this.#socket.ref().write(request.message);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#received.push(bytes);
    this.#size += bytes.length;
    if (this.#size < this.#enough) return;
    const all = this.#received.length === 1 ? bytes : Buffer.concat(this.#received);
    this.#received = [all];
    const start = all.indexOf('\r\n\r\n') + 4;
    if (start < 4) return;
    const [, status, length] =
      /^HTTP\/1\.1 (\d+).*?\r\ncontent-length: (\d+)\r\n/is.exec(all.toString('latin1', 0, start)) ?? [];
    if (!length || !this.#request)
      return void this.#socket.destroy(new Error('This is no answer of known length to a request'));
    this.#enough = start + Number(length);
    if (all.length < this.#enough) return;
    const { resolve } = this.#request;
    this.#request = undefined;
    [this.#received, this.#size, this.#enough] = [[], 0, 1];
    // Who waits for nothing may end.
    this.#socket.unref();
    resolve({ status: Number(status), body: all.toString('utf8', start) });
    this.#free();
  }
}
