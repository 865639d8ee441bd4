import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly body: string;
}

interface Request extends PromiseWithResolvers<Reply> {
  readonly message: string;
  readonly isAborted: () => boolean;
}

const MAX_CONNECTIONS = 32;

/**
 * Sends POST requests over a few connections that stay open. Responses must have a `content-length`. Node's own client
 * takes longer for a request than the engine takes to answer it.
 */
export class Connections {
  readonly #url: URL;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting: Request[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /**
   * Each line of `headers` ends with CRLF. If `isAborted` returns true after the wait for a free connection, the
   * request is not sent, and the promise rejects.
   */
  post(headers: string, body: string, isAborted: () => boolean = () => false): Promise<Reply> {
    const message = `POST / HTTP/1.1\r\nhost: ${this.#url.host}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const request = { message, isAborted, ...Promise.withResolvers<Reply>() };
    const connection = this.#idle.pop() ?? (this.#open.size < MAX_CONNECTIONS ? this.#connect() : undefined);
    // A connection has one request at a time. With two, the server would delay the second response until TCP
    // acknowledges the first one.
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
        const next = this.#nextRequest();
        if (next) connection.send(next);
        else this.#idle.push(connection);
      },
      () => {
        this.#open.delete(connection);
        if (this.#idle.includes(connection)) this.#idle.splice(this.#idle.indexOf(connection), 1);
        const next = this.#nextRequest();
        if (next) this.#connect().send(next);
      },
    );
    this.#open.add(connection);
    return connection;
  }

  #nextRequest(): Request | undefined {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      if (!next.isAborted()) return next;
      next.reject(new Error('The caller aborted the request'));
    }
    return undefined;
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #free: () => void;
  #request: Request | undefined;
  #received: Buffer[] = [];
  #size = 0;
  /** With fewer bytes, the response is incomplete. */
  #minimumSize = 1;

  constructor({ hostname, port }: URL, free: () => void, closed: () => void) {
    this.#free = free;
    let failure: Error | undefined;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
      .on('error', (error) => (failure = error))
      .on('data', (bytes) => this.#receive(bytes))
      .on('close', () => {
        this.#request?.reject(failure ?? new Error('The connection was closed before the response'));
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

  #receive(bytes: Buffer): void {
    this.#received.push(bytes);
    this.#size += bytes.length;
    if (this.#size < this.#minimumSize) return;
    const all = this.#received.length === 1 ? bytes : Buffer.concat(this.#received);
    this.#received = [all];
    const start = all.indexOf('\r\n\r\n') + 4;
    if (start < 4) return;
    const [, status, length] =
      /^HTTP\/1\.1 (\d+).*?\r\ncontent-length: (\d+)\r\n/is.exec(all.toString('latin1', 0, start)) ?? [];
    if (!length || !this.#request)
      return void this.#socket.destroy(new Error('The response has no content-length or no request'));
    this.#minimumSize = start + Number(length);
    if (all.length < this.#minimumSize) return;
    const { resolve } = this.#request;
    this.#request = undefined;
    [this.#received, this.#size, this.#minimumSize] = [[], 0, 1];
    // An idle connection must not keep the process alive.
    this.#socket.unref();
    resolve({ status: Number(status), body: all.toString('utf8', start) });
    this.#free();
  }
}
