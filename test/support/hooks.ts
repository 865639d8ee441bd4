import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Receiver, startHttp } from './receivers.ts';

/** A received webhook. */
export interface Hook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The answer of a path: a status, or a status with headers and a body. */
export interface HookAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** A receiver that records webhooks by path and returns the configured answers. */
export class Hooks {
  readonly came: Hook[] = [];
  readonly #answers = new Map<string, (hook: Hook, nth: number) => HookAnswer | Promise<HookAnswer>>();
  #receiver: Receiver | undefined;

  async start(): Promise<this> {
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const hook = { path: request.url ?? '', headers: request.headers, body: await text(request) };
      this.came.push(hook);
      const {
        status,
        headers = {},
        body = '',
      } = (await this.#answers.get(hook.path)?.(hook, this.at(hook.path).length)) ?? { status: 200 };
      response.writeHead(status, headers).end(body);
    };
    this.#receiver = await startHttp((request, response) => void respond(request, response));
    return this;
  }

  /** Returns the URL of a path, such as `/a`. */
  url(path: string): string {
    return `${this.#receiver?.url}${path}`;
  }

  /** Sets the answer of a path, from the webhook and the number of webhooks so far. */
  answer(path: string, answer: HookAnswer | ((hook: Hook, nth: number) => HookAnswer | Promise<HookAnswer>)): void {
    this.#answers.set(path, typeof answer === 'function' ? answer : () => answer);
  }

  /** Returns the webhooks of a path. */
  at(path: string): Hook[] {
    return this.came.filter((hook) => hook.path === path);
  }

  async stop(): Promise<void> {
    await this.#receiver?.stop();
  }
}
