import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Receiver, startHttp } from './receivers.ts';

/** A webhook that came in. */
export interface Hook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a path answers: a status, with headers and a body. */
export interface HookAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** A receiver of webhooks that keeps what comes, by path, and answers what it is told. */
export class Hooks {
  readonly came: Hook[] = [];
  readonly #answers = new Map<string, (hook: Hook, nth: number) => HookAnswer | Promise<HookAnswer>>();
  #receiver: Receiver | undefined;

  async start(): Promise<this> {
    this.#receiver = await startHttp(async (request, response) => {
      const hook = { path: request.url ?? '', headers: request.headers, body: await text(request) };
      this.came.push(hook);
      const {
        status,
        headers = {},
        body = '',
      } = (await this.#answers.get(hook.path)?.(hook, this.at(hook.path).length)) ?? { status: 200 };
      response.writeHead(status, headers).end(body);
    });
    return this;
  }

  /** The URL of a path, such as `/a`. */
  url(path: string): string {
    return `${this.#receiver?.url}${path}`;
  }

  /** What a path answers from now on, by what came and how many have come there. */
  answer(path: string, answer: HookAnswer | ((hook: Hook, nth: number) => HookAnswer | Promise<HookAnswer>)): void {
    this.#answers.set(path, typeof answer === 'function' ? answer : () => answer);
  }

  /** What came at a path. */
  at(path: string): Hook[] {
    return this.came.filter((hook) => hook.path === path);
  }

  async stop(): Promise<void> {
    await this.#receiver?.stop();
  }
}
