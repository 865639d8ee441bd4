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

/** The time limit of one request, in milliseconds: connection, response headers and body together. */
export const TIMEOUT_MILLISECONDS = 15_000;

/**
 * How long an idle connection is kept, in milliseconds. Most servers keep idle connections longer, so they rarely close one first.
 */
const IDLE_MILLISECONDS = 4_000;
/**
 * The most idle connections to one origin. A message can have 20 endpoints of one origin, and a batch has ten messages. With a
 * lower limit, connections that the next batch needs would be closed.
 */
const MAX_IDLE_PER_ORIGIN = 50;
const MAX_IDLE = 100;

/** The most destinations that are kept, each for one URL. */
const MAX_DESTINATIONS = 1_000;

/** Matches valid header values. Node throws for other characters. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface WebhookRequest {
  readonly url: string;
  /** The headers by lower-case name. An `authorization` header takes precedence over the userinfo of the URL. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time limit of the request in milliseconds. The default is 15 s. */
  readonly timeoutMs?: number;
}

export interface WebhookClient {
  /**
   * Sends one POST. The receiver gets it at most once. Errors that a receiver can cause are results. Throws only on internal
   * errors.
   */
  post(request: WebhookRequest): Promise<AttemptResult>;
}

interface ClientOptions {
  readonly userAgent?: string;
  readonly resolver?: NameResolver;
  readonly now?: () => number;
}

/** Creates a client for webhooks. It keeps connections open, so use one client per process. */
export function createWebhookClient(policy: AddressPolicy, options: ClientOptions = {}): WebhookClient {
  return new HttpWebhookClient(policy, options);
}

/** What the client derives from a URL. It depends only on the URL and the address policy. */
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

  /** Returns the destination of a URL, or the reason why no request may be sent to it. Keeps both for the next request. */
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
   * Returns the agent for a protocol, which keeps connections open. If the last request was too long ago, closes idle connections,
   * because the receivers may have closed them. Timers cannot do that while Lambda freezes the process.
   */
  #agent(secure: boolean): http.Agent {
    const now = this.#now();
    if (now - this.#usedAt > IDLE_MILLISECONDS)
      for (const socket of [this.#httpAgent, this.#httpsAgent].flatMap(idleSockets)) socket.destroy();
    this.#usedAt = now;
    return secure ? this.#httpsAgent : this.#httpAgent;
  }
}

/**
 * Returns the destination of a URL, or the reason why no request may be sent to it. Checks IP addresses in the URL, because sockets
 * look up only names.
 */
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

/** Returns the userinfo of a URL as the value of an `authorization` header, or undefined for a URL without userinfo. */
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

/** Limits the total number of idle connections of an agent. Node limits only the number per origin. */
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
