import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import type { Hook } from './hooks.ts';

/** What a receiver does with the requests to a path; 200 when it is not told. */
export interface Behaviour {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Never answers. */
  readonly hangs?: boolean;
  /** Only with the first so many of each `webhook-id`; the others get 200. */
  readonly timesEach?: number;
}

/** A webhook that came to it. */
export interface RemoteHook extends Hook {
  /** When its head had come, epoch ms. */
  readonly at: number;
  /** The status of the answer; absent when there was none. */
  readonly answered?: number | undefined;
}

export type ToReceiver = { readonly path: string; readonly behaviour: Behaviour };
export type FromReceiver = { readonly url: string } | { readonly came: RemoteHook } | { readonly behaves: string };

/** When it is said what has not come: however slow the machine is, but before the test is given up without a word. */
const PATIENCE_MILLISECONDS = 240_000;

/** A receiver of webhooks in another process, which keeps what comes, by path. */
export class RemoteReceiver {
  readonly came: RemoteHook[] = [];
  readonly #child: ChildProcess;
  readonly #events = new EventEmitter();
  #url = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#events.setMaxListeners(0);
    child.on('message', (message: FromReceiver) => {
      if ('url' in message) this.#url = message.url;
      if ('came' in message) this.came.push(message.came);
      this.#events.emit('behaves' in message ? `behaves ${message.behaves}` : 'came');
    });
  }

  static async start(): Promise<RemoteReceiver> {
    const receiver = new RemoteReceiver(
      fork(join(import.meta.dirname, 'receiverProcess.ts'), { execArgv: [], serialization: 'advanced' }),
    );
    await once(receiver.#events, 'came');
    return receiver;
  }

  /** Returns the URL of a path, such as `/a`. */
  url(path: string): string {
    return this.#url + path;
  }

  /** What the requests to a path meet from now on. */
  async will(path: string, behaviour: Behaviour): Promise<void> {
    const done = once(this.#events, `behaves ${path}`);
    this.#child.send({ path, behaviour } satisfies ToReceiver);
    await done;
  }

  /** Returns the webhooks of a path. */
  at(path: string): RemoteHook[] {
    return this.came.filter((hook) => hook.path === path);
  }

  /** What came at a path, and is `like` this, as soon as there is so much of it. */
  async until(path: string, count = 1, like: (hook: RemoteHook) => boolean = () => true): Promise<RemoteHook[]> {
    const found = () => this.at(path).filter(like);
    await this.when(
      () => found().length >= count,
      () => `${found().length} of ${count} webhooks came at ${path}`,
    );
    return found();
  }

  /** Resolves when what has come is enough; rejects, saying what is wrong, when it is not in time. */
  async when(enough: () => boolean, wrong: () => string): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    while (!enough()) {
      await once(this.#events, 'came', { signal }).catch(() => {
        throw new Error(
          `${wrong()}; last came ${this.came
            .slice(-20)
            .map((hook) => `${hook.path} (${hook.answered})`)
            .join(', ')}`,
        );
      });
    }
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }
}
