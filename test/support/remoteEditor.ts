import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a client in another process is to do. */
export interface EditorOrder {
  readonly baseUrl: string;
  readonly headers: Record<string, string>;
  readonly editor: object;
  /** Whether it asks for what came after a version, and not for what its state vector lacks. */
  readonly byVersion: boolean;
  /** What it types, and sends word by word. */
  readonly words: readonly string[];
}

/** What it sees in the end. */
export interface EditorReport {
  readonly text: string;
}

/** A client of Yjs in another process. */
export class RemoteEditor {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'yjsClientProcess.ts'), { execArgv: [] });

  /** Has it do something; gives the text that it has then. Throws when it fails. */
  async does(order: EditorOrder): Promise<string> {
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
