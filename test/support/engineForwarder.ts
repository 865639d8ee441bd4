import type { IncomingHttpHeaders } from 'node:http';
import { Connections, type Reply } from '../../infra/local/table/connections.ts';

/** Forwards requests of the SDK to a table engine. `fetch` would take longer than the engine. */
export class EngineForwarder {
  readonly #connections: Connections;

  constructor(url: string) {
    this.#connections = new Connections(url);
  }

  forward(headers: IncomingHttpHeaders, body: string): Promise<Reply> {
    const { host: _, connection: __, 'content-length': ___, ...others } = headers;
    const lines = Object.entries(others).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    return this.#connections.post(lines.join(''), body);
  }

  stop(): void {
    this.#connections.destroy();
  }
}
