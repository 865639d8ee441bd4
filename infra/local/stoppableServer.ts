import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MILLISECONDS = 50;
const OPEN_MILLISECONDS = 10_000;

/**
 * An HTTP server that can be stopped, and started again at the same address. While it is stopped, it refuses
 * connections.
 */
export class StoppableServer {
  readonly #server: Server;
  readonly port: number;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async create(): Promise<StoppableServer> {
    const server = createServer();
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new StoppableServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get isOpen(): boolean {
    return this.#server.listening;
  }

  setListener(listener: RequestListener): void {
    this.#server.on('request', listener);
  }

  /** For requests that change the protocol, such as to WebSocket. */
  setUpgradeListener(listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.#server.on('upgrade', listener);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** While another program uses the port, retries for up to ten seconds. */
  async open(): Promise<void> {
    const until = Date.now() + OPEN_MILLISECONDS;
    while (!this.#server.listening) {
      const listening = once(this.#server, 'listening');
      this.#server.listen(this.port, '127.0.0.1');
      await listening.catch(async (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || Date.now() > until) throw error;
        await delay(RETRY_MILLISECONDS);
      });
    }
  }
}
