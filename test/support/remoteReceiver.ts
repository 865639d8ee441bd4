import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import type { ReceivedWebhook } from './hooks.ts';

/** What a receiver does with the requests to a path. The default is to answer 200. */
export interface Behaviour {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Whether the receiver never answers. */
  readonly hangs?: boolean;
  /**
   * For each `webhook-id`, this number of requests get this answer. All further ones get 200. The default is that all
   * get this answer.
   */
  readonly timesEach?: number;
}

export interface RemoteWebhook extends ReceivedWebhook {
  /** When the headers had arrived, in epoch milliseconds. */
  readonly at: number;
  /** The status that the receiver answered. Undefined if it did not answer. */
  readonly answeredStatus?: number | undefined;
}

export type ToReceiver = { readonly path: string; readonly behaviour: Behaviour };
export type FromReceiver =
  { readonly url: string } | { readonly received: RemoteWebhook } | { readonly configured: string };

/** How long a test waits for webhooks. This is enough for a slow machine, and shorter than the time-out of tests. */
const PATIENCE_MILLISECONDS = 240_000;

/** A receiver of webhooks in another process. It keeps the received webhooks. */
export class RemoteReceiver {
  readonly received: RemoteWebhook[] = [];
  readonly #child: ChildProcess;
  readonly #events = new EventEmitter();
  #url = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#events.setMaxListeners(0);
    child.on('message', (message: FromReceiver) => {
      if ('url' in message) this.#url = message.url;
      if ('received' in message) this.received.push(message.received);
      this.#events.emit('configured' in message ? `configured ${message.configured}` : 'received');
    });
  }

  static async start(): Promise<RemoteReceiver> {
    const receiver = new RemoteReceiver(
      fork(join(import.meta.dirname, 'receiverProcess.ts'), { execArgv: [], serialization: 'advanced' }),
    );
    // The first message contains the URL.
    await once(receiver.#events, 'received');
    return receiver;
  }

  /** Returns the URL of a path, such as `/a`. */
  url(path: string): string {
    return this.#url + path;
  }

  /** Sets what the receiver does with the requests to a path from now on. */
  async setBehaviour(path: string, behaviour: Behaviour): Promise<void> {
    const done = once(this.#events, `configured ${path}`);
    this.#child.send({ path, behaviour } satisfies ToReceiver);
    await done;
  }

  /** Returns the received webhooks of a path, oldest first. */
  at(path: string): RemoteWebhook[] {
    return this.received.filter((hook) => hook.path === path);
  }

  /**
   * Waits until at least `count` webhooks of a path have arrived for which `isWanted` returns true. Returns all of
   * these.
   */
  async waitForWebhooks(
    path: string,
    count = 1,
    isWanted: (webhook: RemoteWebhook) => boolean = () => true,
  ): Promise<RemoteWebhook[]> {
    const webhooks = () => this.at(path).filter(isWanted);
    await this.waitUntil(
      () => webhooks().length >= count,
      () => `${webhooks().length} of ${count} webhooks were received at ${path}`,
    );
    return webhooks();
  }

  /**
   * Waits until `isDone` returns true. Checks it after each webhook. After a time limit, throws an error with the text
   * of `describe`.
   */
  async waitUntil(isDone: () => boolean, describe: () => string): Promise<void> {
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    while (!isDone()) {
      await once(this.#events, 'received', { signal }).catch(() => {
        throw new Error(
          `${describe()}. The last webhooks were ${this.received
            .slice(-20)
            .map((hook) => `${hook.path} (${hook.answeredStatus})`)
            .join(', ')}`,
        );
      });
    }
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}
