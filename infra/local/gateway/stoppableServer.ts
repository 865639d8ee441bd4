import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MILLISECONDS = 50;
const OPEN_MILLISECONDS = 10_000;

/** A server at an address of its own that can be closed for a while: who calls then is refused, as by a service that is down. */
export class Door {
  readonly #server: Server;
  readonly #port: number;

  private constructor(server: Server) {
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Takes any free port. */
  static async create(): Promise<Door> {
    const server = createServer();
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Door(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Calls wait until this was called. */
  answerBy(listener: RequestListener): void {
    this.#server.on('request', listener);
  }

  /** Cuts off what is under way too. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Opens it again, at the same address; which a connection of another program may hold for a moment. */
  async open(): Promise<void> {
    const until = Date.now() + OPEN_MILLISECONDS;
    while (!this.#server.listening) {
      const listening = once(this.#server, 'listening');
      this.#server.listen(this.#port, '127.0.0.1');
      await listening.catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE' || Date.now() > until) throw error;
        await delay(RETRY_MILLISECONDS);
      });
    }
  }
}
