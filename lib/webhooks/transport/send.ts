import * as http from 'node:http';
import * as https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { combine } from '../../app/capability.ts';
import { serviceName } from '../../app/serviceName.ts';
import { type AddressPolicy, addressPolicy, isAllowedHost } from '../../net/addressPolicy.ts';
import { hasBlockedPort, parseHttpUrl } from '../../net/httpUrl.ts';
import { BoundedMap } from '../../shared/boundedMap.ts';
import type { AttemptResult } from '../rules/outcome.ts';
import { type Failure, refusals } from './failures.ts';
import { checkedLookup, type NameResolver, nameResolver } from './lookup.ts';
import { type HttpRequest, sendRequest } from './sendRequest.ts';

/** From the name lookup to the end of the response body. */
export const TIMEOUT_MILLISECONDS = 15_000;

/** Most servers keep idle connections longer, so they rarely close one first. */
const IDLE_MILLISECONDS = 4_000;
/**
 * A batch has ten messages, each with up to 20 endpoints, so the next batch can need many connections to one origin.
 */
const MAX_IDLE_PER_ORIGIN = 50;
const MAX_IDLE = 100;

const MAX_DESTINATIONS = 1_000;

/** Node throws for values with other characters. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs?: number;
}

export interface WebhookClient {
  /**
   * The receiver gets the POST at most once. Errors that a receiver can cause are results. Throws only on internal
   * errors.
   */
  post(request: WebhookRequest): Promise<AttemptResult>;
}

interface ClientOptions {
  readonly userAgent?: string;
  readonly resolver?: NameResolver;
  readonly now?: () => number;
}

/** Keeps connections open, so use one client per process. */
export function createWebhookClient(policy: AddressPolicy, options: ClientOptions = {}): WebhookClient {
  return new HttpWebhookClient(policy, options);
}

interface Destination {
  readonly secure: boolean;
  readonly options: Pick<https.RequestOptions, 'hostname' | 'port' | 'path'>;
  readonly authorization: string | undefined;
}

class HttpWebhookClient implements WebhookClient {
  readonly #policy: AddressPolicy;
  readonly #userAgent: string;
  readonly #now: () => number;
  readonly #lookup: LookupFunction;
  readonly #httpAgent: http.Agent;
  readonly #httpsAgent: https.Agent;
  readonly #destinations = new BoundedMap<string, Destination | Failure>(MAX_DESTINATIONS);
  #usedAt = 0;

  constructor(
    policy: AddressPolicy,
    { userAgent = 'webhooks/1', resolver = nameResolver(), now = Date.now }: ClientOptions,
  ) {
    this.#policy = policy;
    this.#userAgent = userAgent;
    this.#now = now;
    this.#lookup = checkedLookup(policy, resolver);
    const options = { keepAlive: true, timeout: IDLE_MILLISECONDS, maxFreeSockets: MAX_IDLE_PER_ORIGIN };
    this.#httpAgent = limitIdle(new http.Agent(options));
    this.#httpsAgent = limitIdle(new https.Agent(options));
  }

  async post({ url: text, headers, body, timeoutMs = TIMEOUT_MILLISECONDS }: WebhookRequest): Promise<AttemptResult> {
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const destination = this.#destination(text);
    if ('error' in destination) return { ...destination, durationMs: elapsed() };
    if (!Object.values(headers).every((value) => HEADER_VALUE.test(value)))
      return { ...refusals.header, durationMs: elapsed() };
    const request = this.#prepare(destination, headers, body);
    let result = await sendRequest(request, { agent: this.#agent(request.secure), timeoutMs, now: this.#now });
    // Nothing was written to the stale connection, so the receiver gets only the second request.
    if (result === 'stale')
      result = await sendRequest(request, { agent: false, timeoutMs: timeoutMs - elapsed(), now: this.#now });
    this.#usedAt = this.#now();
    if (result === 'stale') throw new Error('A new connection was reported as stale');
    return { ...result, durationMs: elapsed() };
  }

  #destination(text: string): Destination | Failure {
    let destination = this.#destinations.get(text);
    if (!destination) {
      destination = toDestination(text, this.#policy);
      this.#destinations.set(text, destination);
    }
    return destination;
  }

  #prepare(
    { secure, options, authorization: userinfo }: Destination,
    headers: WebhookRequest['headers'],
    body: string,
  ): HttpRequest {
    const { authorization = userinfo, ...otherHeaders } = headers;
    return {
      secure,
      body,
      options: {
        ...options,
        method: 'POST',
        lookup: this.#lookup,
        headers: {
          'user-agent': this.#userAgent,
          accept: '*/*',
          'accept-encoding': 'identity',
          ...otherHeaders,
          ...(authorization !== undefined && { authorization }),
        },
      },
    };
  }

  /**
   * After `IDLE_MILLISECONDS` without a request, closes idle connections, because receivers may have closed their ends.
   * The timers of the agent cannot close them while Lambda freezes the process.
   */
  #agent(secure: boolean): http.Agent {
    const now = this.#now();
    if (now - this.#usedAt > IDLE_MILLISECONDS)
      for (const socket of [this.#httpAgent, this.#httpsAgent].flatMap(idleSockets)) socket.destroy();
    this.#usedAt = now;
    return secure ? this.#httpsAgent : this.#httpAgent;
  }
}

/** Checks IP addresses in the URL, because sockets look up only names. */
function toDestination(text: string, policy: AddressPolicy): Destination | Failure {
  const url = parseHttpUrl(text);
  if (!url) return refusals.url;
  if (hasBlockedPort(url)) return refusals.port;
  if (!isAllowedHost(url.hostname, policy)) return refusals.address;
  return {
    secure: url.protocol === 'https:',
    options: {
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname + url.search,
    },
    authorization: userinfo(url),
  };
}

function userinfo({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Node limits idle connections only per origin. */
function limitIdle<A extends http.Agent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean;
  agent.keepSocketAlive = (socket) => {
    let idle = 0;
    for (const sockets of Object.values(agent.freeSockets)) idle += sockets?.length ?? 0;
    return idle < MAX_IDLE && keep(socket);
  };
  return agent;
}

function idleSockets({ freeSockets }: http.Agent): Duplex[] {
  return Object.values(freeSockets).flatMap((sockets) => sockets ?? []);
}

export const webhookClient = /* @__PURE__ */ combine({ addressPolicy, serviceName }, (deps) =>
  createWebhookClient(deps.addressPolicy, { userAgent: `${deps.serviceName}-webhooks/1` }),
);
