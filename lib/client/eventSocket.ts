import { parseJson } from '../shared/parseJson.ts';

export interface SocketLike {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}
export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

export interface EventSocketOptions {
  readonly url: string;
  readonly host: string;
  readonly token: string;
  readonly WebSocket: SocketConstructor;
  readonly onEvent: (channel: string, event: unknown) => void;
  readonly onEnd: () => void;
}

const ANSWER_MILLISECONDS = 10_000;
/** After this time without a message, the connection counts as broken. The service can set another time. */
const SILENCE_MILLISECONDS = 300_000;

interface ServiceMessage {
  readonly type?: string;
  readonly id?: string;
  readonly event?: unknown;
  readonly connectionTimeoutMs?: number;
  readonly errors?: readonly { readonly errorType?: string; readonly message?: string }[];
}

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class SocketError extends Error {
  override readonly name = 'SocketError';
}

export class EventSocket {
  readonly #options: EventSocketOptions;
  readonly #socket: SocketLike;
  readonly #pending = new Map<string, Pending>();
  readonly #channels = new Map<string, string>();
  #token: string;
  #nextId = 1;
  #hasEnded = false;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #silenceMilliseconds = SILENCE_MILLISECONDS;

  /** Starts to connect. `open` waits until the service has accepted the connection. */
  constructor(options: EventSocketOptions) {
    this.#options = options;
    this.#token = options.token;
    this.#socket = new options.WebSocket(options.url, [
      'aws-appsync-event-ws',
      `header-${base64Url(JSON.stringify(this.#authorization()))}`,
    ]);
    this.#socket.onmessage = ({ data }) => this.#receive(data);
    this.#socket.onclose = () => this.#end();
    this.#socket.onerror = () => this.#end();
  }

  async open(): Promise<void> {
    this.#socket.onopen = () => this.#socket.send(JSON.stringify({ type: 'connection_init' }));
    await this.#answerTo('connection');
  }

  async subscribe(channel: string): Promise<void> {
    const id = this.#newId();
    this.#channels.set(id, channel);
    await this.#request({ type: 'subscribe', id, channel, authorization: this.#authorization() });
  }

  async publish(channel: string, events: readonly object[]): Promise<void> {
    const texts = events.map((event) => JSON.stringify(event));
    const id = this.#newId();
    await this.#request({ type: 'publish', id, channel, events: texts, authorization: this.#authorization() });
  }

  renewToken(token: string): void {
    this.#token = token;
  }

  close(): void {
    this.#end();
  }

  #authorization(): object {
    return { host: this.#options.host, Authorization: this.#token };
  }

  #newId(): string {
    return String(this.#nextId++);
  }

  async #request(message: { readonly id: string; readonly [name: string]: unknown }): Promise<void> {
    if (this.#hasEnded || this.#socket.readyState !== 1) throw new SocketError('The connection has ended');
    const answer = this.#answerTo(message.id);
    this.#socket.send(JSON.stringify(message));
    await answer;
  }

  #answerTo(id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new SocketError('The service did not answer'));
      }, ANSWER_MILLISECONDS);
      this.#pending.set(id, { resolve, reject, timer });
    });
  }

  #finish(id: string, error?: Error): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (error) pending.reject(error);
    else pending.resolve();
  }

  #receive(data: unknown): void {
    const message = parse(data) as ServiceMessage | undefined;
    if (this.#hasEnded || !message) return;
    this.#expectMessage();
    const { type = '', id = 'connection', event } = message;
    if (type === 'connection_ack') {
      this.#silenceMilliseconds = message.connectionTimeoutMs ?? SILENCE_MILLISECONDS;
      this.#expectMessage();
      this.#finish('connection');
    } else if (type === 'data') {
      const channel = this.#channels.get(id);
      // AWS documents `event` as a list with one text. AWS's own clients read a text without a list.
      for (const text of [event].flat()) {
        const content = parse(text);
        if (channel !== undefined && content !== undefined) this.#options.onEvent(channel, content);
      }
    } else if (type.endsWith('_success')) this.#finish(id);
    else if (type.endsWith('error')) {
      const [reason] = message.errors ?? [];
      this.#finish(id, new SocketError(`${reason?.errorType ?? type}: ${reason?.message ?? ''}`));
    }
  }

  /** The service sends keep-alives, so silence means a broken connection. */
  #expectMessage(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#end(), this.#silenceMilliseconds);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#silence);
    for (const id of [...this.#pending.keys()]) this.#finish(id, new SocketError('The connection has ended'));
    this.#socket.close();
    this.#options.onEnd();
  }
}

function parse(text: unknown): unknown {
  return typeof text === 'string' ? parseJson(text) : undefined;
}

/** The name of a WebSocket subprotocol must not contain `/` or `=`. */
function base64Url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
