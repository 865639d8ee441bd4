import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** An order to a client in another process. */
export interface EditorOrder {
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly editor: object;
  /** Whether the client syncs by version and not by state vector. */
  readonly byVersion: boolean;
  /** The client types and sends these words one by one. */
  readonly words: readonly string[];
}

/** The text of the client after an order. */
export interface EditorReport {
  readonly text: string;
}

/** A Yjs client in another process. */
export class RemoteEditor {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'yjsClientProcess.ts'), { execArgv: [] });

  /** Runs an order. Returns the text of the client. Throws when the client fails. */
  async run(order: EditorOrder): Promise<string> {
    const failed = new AbortController();
    const report = once(this.#child, 'message', { signal: failed.signal });
    this.#child.once('exit', () => failed.abort(new Error('The client has ended')));
    this.#child.send(order);
    const [{ text }] = (await report) as [EditorReport];
    return text;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}
