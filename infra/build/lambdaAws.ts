/**
 * Connections, retries, credentials and endpoints for the AWS clients in the bundles (see build.ts). They behave like
 * the AWS SDK's defaults in Lambda. The SDK's own code for them takes 200 kB of a bundle and a third of its load time.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import type { JsonConfig, JsonRequest, JsonResponse, RetryToken } from '../../lib/net/jsonService.ts';
import { defaultProvider } from './lambdaCredentials.ts';

/** The settings of a client that the service uses. */
export interface ClientSettings {
  readonly maxAttempts?: number;
  readonly requestHandler?: { readonly connectionTimeout?: number; readonly requestTimeout?: number };
}

const DEFAULT_ATTEMPTS = 3;
const MAX_SOCKETS = 50;
/**
 * The budget of retries, which limits them while a service is down. Each retry takes its cost from the budget. A
 * success returns the cost.
 */
const RETRY_BUDGET = 500;
const RETRY_COST = 14;
const THROTTLING_COST = 5;
/** The longest pause before the first retry, in milliseconds. The limit doubles with each further retry. */
const PAUSE_MILLISECONDS = 50;
const THROTTLING_PAUSE_MILLISECONDS = 1_000;
const MAX_PAUSE_MILLISECONDS = 20_000;

/** Returns the configuration of a client for the service with this host name, such as `sqs`. */
export function lambdaConfig(
  host: string,
  { maxAttempts = DEFAULT_ATTEMPTS, requestHandler }: ClientSettings,
): JsonConfig {
  const retries = new Retries(maxAttempts);
  return {
    credentials: defaultProvider(),
    region: () => Promise.resolve(regionOf(process.env)),
    url: () => Promise.resolve(urlOf(host, process.env)),
    retryStrategy: () => Promise.resolve(retries),
    requestHandler: new Connections(requestHandler),
  };
}

function regionOf({ AWS_REGION: region }: NodeJS.ProcessEnv): string {
  if (!region) throw new Error('AWS_REGION is not set');
  return region;
}

/**
 * Returns the URL of the service. The variables `AWS_ENDPOINT_URL_<service>` and `AWS_ENDPOINT_URL` replace it, as in
 * the SDK.
 */
export function urlOf(host: string, env: NodeJS.ProcessEnv): URL {
  const configured = env[`AWS_ENDPOINT_URL_${variableNames[host] ?? host.toUpperCase()}`] ?? env.AWS_ENDPOINT_URL;
  if (configured) return new URL(configured);
  const region = regionOf(env);
  const [, domain = 'amazonaws.com'] = domains.find(([prefix]) => region.startsWith(prefix)) ?? [];
  return new URL(`https://${host}.${region}.${domain}`);
}

/** How the names of regions begin that have another domain: China and the AWS European Sovereign Cloud. */
const domains = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
] as const;

/**
 * Maps the host name of a service to its name in environment variables. Other services use their host name in upper
 * case.
 */
const variableNames: Readonly<Record<string, string>> = {
  secretsmanager: 'SECRETS_MANAGER',
  'search-dynamodb': 'DYNAMODB',
};

/**
 * Returns the trace header of the current invocation. SQS passes it on with the messages. Lambda counts the invocations
 * of a chain in it, to detect recursive loops.
 */
function traceHeader({ _X_AMZN_TRACE_ID: trace }: NodeJS.ProcessEnv): Record<string, string> {
  return trace ? { 'x-amzn-trace-id': trace } : {};
}

/** Sends requests over connections that stay open. */
class Connections {
  readonly #connectionTimeout: number;
  readonly #requestTimeout: number;
  #http: http.Agent | undefined;
  #https: https.Agent | undefined;

  constructor({ connectionTimeout = 0, requestTimeout = 0 }: ClientSettings['requestHandler'] = {}) {
    this.#connectionTimeout = connectionTimeout;
    this.#requestTimeout = requestTimeout;
  }

  handle(
    { protocol, hostname, port, method, path, headers, body }: JsonRequest,
    { abortSignal }: { readonly abortSignal?: AbortSignal | undefined } = {},
  ): Promise<{ response: JsonResponse }> {
    // An aborted signal has no event any more.
    abortSignal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<{ response: JsonResponse }>();
    const options = {
      host: hostname,
      ...(port !== undefined && { port }),
      method,
      path,
      headers: { ...headers, ...traceHeader(process.env) },
    };
    const request = this.#send(protocol === 'https:', options, (response) => {
      response.once('close', end);
      resolve({ response: { statusCode: response.statusCode ?? 0, headers: response.headers, body: response } });
    });
    const timers: NodeJS.Timeout[] = [];
    const failAfter = (milliseconds: number, what: string) => {
      if (milliseconds === 0) return undefined;
      const timer = setTimeout(() => {
        fail(Object.assign(new Error(`${what} within ${milliseconds} ms`), { name: 'TimeoutError' }));
        request.destroy();
      }, milliseconds);
      timers.push(timer);
      return timer;
    };
    failAfter(this.#requestTimeout, 'AWS did not answer');
    const abort = () => {
      fail(Object.assign(new Error('The request was aborted'), { name: 'AbortError' }));
      request.destroy();
    };
    abortSignal?.addEventListener('abort', abort, { once: true });
    request.once('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = failAfter(this.#connectionTimeout, 'There was no connection');
      socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(timer));
    });
    request.on('error', fail);
    request.end(body);
    return promise;

    function fail(error: Error): void {
      end();
      reject(error);
    }
    function end(): void {
      for (const timer of timers) clearTimeout(timer);
      abortSignal?.removeEventListener('abort', abort);
    }
  }

  destroy(): void {
    this.#http?.destroy();
    this.#https?.destroy();
  }

  #send(
    isTls: boolean,
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    const settings = { keepAlive: true, maxSockets: MAX_SOCKETS };
    if (isTls) return https.request({ ...options, agent: (this.#https ??= new https.Agent(settings)) }, onResponse);
    return http.request({ ...options, agent: (this.#http ??= new http.Agent(settings)) }, onResponse);
  }
}

/** Decides which failed calls are repeated, and when, like the `standard` retry mode of the SDK. */
class Retries {
  readonly #maxAttempts: number;
  #budget = RETRY_BUDGET;

  constructor(maxAttempts: number) {
    this.#maxAttempts = maxAttempts;
  }

  acquireInitialRetryToken(): Promise<RetryToken> {
    return Promise.resolve(new Token(0, undefined));
  }

  /** Waits for the pause before the next attempt. Throws if the call must not be repeated. */
  async refreshRetryTokenForRetry(
    token: RetryToken,
    { errorType }: { readonly errorType: string },
  ): Promise<RetryToken> {
    const isThrottled = errorType === 'THROTTLING';
    const cost = isThrottled ? THROTTLING_COST : RETRY_COST;
    const count = token.getRetryCount();
    if (!(isThrottled || errorType === 'TRANSIENT') || count + 1 >= this.#maxAttempts || this.#budget < cost)
      throw new Error('The call is not repeated');
    this.#budget -= cost;
    const base = isThrottled ? THROTTLING_PAUSE_MILLISECONDS : PAUSE_MILLISECONDS;
    const pause = Math.random() * Math.min(base * 2 ** count, MAX_PAUSE_MILLISECONDS);
    await new Promise((resolve) => setTimeout(resolve, pause));
    return new Token(count + 1, cost);
  }

  recordSuccess(token: RetryToken): void {
    this.#budget = Math.min(RETRY_BUDGET, this.#budget + (token.getRetryCost() ?? 1));
  }
}

class Token implements RetryToken {
  readonly #count: number;
  readonly #cost: number | undefined;

  constructor(count: number, cost: number | undefined) {
    this.#count = count;
    this.#cost = cost;
  }

  getRetryCount(): number {
    return this.#count;
  }

  getRetryCost(): number | undefined {
    return this.#cost;
  }
}
