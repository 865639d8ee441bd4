import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A task for a client in another process. */
export interface EditorOrder {
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly editor: object;
  /** Whether the client pulls changes since its version. Otherwise it sends its state vector. */
  readonly byVersion: boolean;
  /** The client types these words one after the other, and sends each of them. */
  readonly words: readonly string[];
}

export interface EditorReport {
  readonly text: string;
}

/** A Yjs client in another process. */
export class RemoteEditor {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'yjsClientProcess.ts'), { execArgv: [] });

  /** Runs a task. Returns the text of the client's document. Throws if the client fails. */
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
