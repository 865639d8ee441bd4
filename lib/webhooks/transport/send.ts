import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { building, type Capability } from '../../app/capability.ts';
import { type AddressPolicy, addressPolicy, isAllowedHost } from '../../net/addressPolicy.ts';
import { hasBlockedPort, parseHttpUrl } from '../../net/httpUrl.ts';
import { type Ended, exchange, type Prepared } from './exchange.ts';
import { type Failure, refusals } from './failures.ts';
import { checkedLookup, nameResolver, type NameResolver } from './lookup.ts';

/** How long a receiver has for everything: the connection, and headers and body of its answer (facts B8). */
export const TIMEOUT_MILLISECONDS = 15_000;

/** Shorter than most servers keep a connection open. */
const IDLE_MILLISECONDS = 4_000;
const MOST_IDLE_PER_ORIGIN = 10;
const MOST_IDLE = 100;

/** What a header's value may be made of; Node would throw for anything else. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface WebhookRequest {
  readonly url: string;
  /** By lower-case name. An `authorization` is sent instead of what the URL's userinfo would give. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** 15 s when it is left out. */
  readonly timeoutMs?: number;
}

/** What came of one attempt. */
export interface Sent extends Ended {
  readonly durationMs: number;
}

export interface WebhookClient {
  /** Posts once: the receiver gets at most one request. What the receiver can cause is a result. Throws only on internal errors. */
  post(request: WebhookRequest): Promise<Sent>;
}

interface Options {
  readonly userAgent?: string;
  readonly resolver?: NameResolver;
  readonly now?: () => number;
}

/** Makes the client that webhooks are sent with. It keeps connections, so one per process is enough. */
export function createWebhookClient(policy: AddressPolicy, options: Options = {}): WebhookClient {
  return new HttpWebhookClient(policy, options);
}

class HttpWebhookClient implements WebhookClient {
  readonly #policy: AddressPolicy;
  readonly #userAgent: string;
  readonly #now: () => number;
  readonly #lookup: LookupFunction;
  readonly #plain: http.Agent;
  readonly #secure: https.Agent;
  #usedAt = 0;

  constructor(policy: AddressPolicy, { userAgent = 'webhooks/1', resolver = nameResolver(), now = Date.now }: Options) {
    this.#policy = policy;
    this.#userAgent = userAgent;
    this.#now = now;
    this.#lookup = checkedLookup(policy, resolver);
    const kept = { keepAlive: true, timeout: IDLE_MILLISECONDS, maxFreeSockets: MOST_IDLE_PER_ORIGIN };
    this.#plain = bounded(new http.Agent(kept));
    this.#secure = bounded(new https.Agent(kept));
  }

  async post({ url: text, headers, body, timeoutMs = TIMEOUT_MILLISECONDS }: WebhookRequest): Promise<Sent> {
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const url = parseHttpUrl(text);
    if (!url) return { ...refusals.url, durationMs: elapsed() };
    const refusal = this.#refusal(url, headers);
    if (refusal) return { ...refusal, durationMs: elapsed() };
    const prepared = this.#prepare(url, headers, body);
    let ended = await exchange(prepared, { agent: this.#agent(prepared.secure), timeoutMs, now: this.#now });
    // No byte was written to the kept connection, so that one attempt is still one POST.
    if (ended === 'stale')
      ended = await exchange(prepared, { agent: false, timeoutMs: timeoutMs - elapsed(), now: this.#now });
    this.#usedAt = this.#now();
    if (ended === 'stale') throw new Error('A connection of its own was taken for a kept one');
    return { ...ended, durationMs: elapsed() };
  }

  /** Why a request is not even tried; literal addresses are checked here, since sockets look up names alone. */
  #refusal(url: URL, headers: WebhookRequest['headers']): Failure | undefined {
    if (hasBlockedPort(url)) return refusals.port;
    if (!isAllowedHost(url.hostname, this.#policy)) return refusals.address;
    return Object.values(headers).every((value) => SENDABLE.test(value)) ? undefined : refusals.header;
  }

  #prepare(url: URL, headers: WebhookRequest['headers'], body: string): Prepared {
    const { authorization = userinfo(url), ...others } = headers;
    return {
      secure: url.protocol === 'https:',
      body,
      options: {
        method: 'POST',
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        path: url.pathname + url.search,
        lookup: this.#lookup,
        headers: {
          'user-agent': this.#userAgent,
          accept: '*/*',
          'accept-encoding': 'identity',
          ...others,
          ...(authorization !== undefined && { authorization }),
        },
      },
    };
  }

  /**
   * The agent that keeps connections. What it kept is dropped when the process last sent too long ago: a function that
   * sleeps between its calls has no timers, and would write to a connection that nobody listens to.
   */
  #agent(secure: boolean): http.Agent {
    const now = this.#now();
    if (now - this.#usedAt > IDLE_MILLISECONDS)
      for (const socket of [this.#plain, this.#secure].flatMap(idleSockets)) socket.destroy();
    this.#usedAt = now;
    return secure ? this.#secure : this.#plain;
  }
}

/** What the userinfo of a URL stands for as a header; it leaves the URL nowhere else. */
function userinfo({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Keeps at most so many idle connections in all; of one origin, Node keeps as many as it is told. */
function bounded<A extends http.Agent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
  agent.keepSocketAlive = (socket) => idleSockets(agent).length < MOST_IDLE && keep(socket);
  return agent;
}

function idleSockets({ freeSockets }: http.Agent): Duplex[] {
  return Object.values(freeSockets).flatMap((sockets) => sockets ?? []);
}

/** Send webhooks. */
export const webhookClient: Capability<WebhookClient> = /* @__PURE__ */ building([addressPolicy], {
  grants: [],
  env: ['SERVICE_NAME'],
  open: (env) => createWebhookClient(addressPolicy.open(env), { userAgent: `${env.SERVICE_NAME}-webhooks/1` }),
});
