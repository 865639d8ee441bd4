import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Receiver, startHttp } from './receivers.ts';

/** A received webhook. */
export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The answer to a webhook: a status with optional headers and body. */
interface WebhookAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** A receiver that records webhooks. Tests set its answers by path. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  readonly #answers = new Map<string, (hook: ReceivedWebhook, nth: number) => WebhookAnswer | Promise<WebhookAnswer>>();
  #receiver: Receiver | undefined;

  async start(): Promise<this> {
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const hook = { path: request.url ?? '', headers: request.headers, body: await text(request) };
      this.received.push(hook);
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

  /** Returns the receiver's URL of a path, such as `/a`. */
  url(path: string): string {
    return `${this.#receiver?.url}${path}`;
  }

  /**
   * Sets the answer of a path. If it is a function, the function gets the webhook, and its number among the webhooks
   * of the path. The first webhook has the number 1.
   */
  answer(
    path: string,
    answer: WebhookAnswer | ((hook: ReceivedWebhook, nth: number) => WebhookAnswer | Promise<WebhookAnswer>),
  ): void {
    this.#answers.set(path, typeof answer === 'function' ? answer : () => answer);
  }

  /** Returns the received webhooks of a path, oldest first. */
  at(path: string): ReceivedWebhook[] {
    return this.received.filter((hook) => hook.path === path);
  }

  async stop(): Promise<void> {
    await this.#receiver?.stop();
  }
}
