import * as z from 'zod';
import { type Capability, type Environment, optionalVariable } from '../app/capability.ts';
import { RequestSigner, type SigningCredentials } from '../crypto/requestSigner.ts';

/**
 * A publish is aborted after this time. The publisher waits longer before the last event of a channel, so that no
 * earlier publish can still run.
 */
export const PUBLISH_MILLISECONDS = 2_000;

/** AppSync answers 200 even if it rejects some events. */
const Answer = z.object({ failed: z.array(z.object({ index: z.number(), code: z.number().optional() })).default([]) });

export interface HintPublisher {
  /** At most five events, each a JSON text. Throws if AppSync does not accept all of them. */
  publish(channel: string, events: readonly string[]): Promise<void>;
}

export interface EventApiAddress {
  readonly host: string;
  readonly httpUrl: string;
  readonly realtimeUrl: string;
}

/** The environment variable `AWS_ENDPOINT_URL_APPSYNC` replaces the address, as in AWS SDKs. */
export function eventApiAddress(env: Environment): EventApiAddress {
  const host = env.LIVE_HTTP_HOST;
  const endpoint = optionalVariable(env, 'AWS_ENDPOINT_URL_APPSYNC');
  if (endpoint === undefined)
    return { host, httpUrl: `https://${host}/event`, realtimeUrl: `wss://${env.LIVE_REALTIME_HOST}/event/realtime` };
  return {
    host: new URL(endpoint).host,
    httpUrl: `${endpoint}/event`,
    realtimeUrl: `${endpoint.replace(/^http/, 'ws')}/event/realtime`,
  };
}

export class HttpEventPublisher implements HintPublisher {
  readonly #url: URL;
  readonly #signer: RequestSigner;
  readonly #credentials: SigningCredentials;

  constructor(url: string, region: string, credentials: SigningCredentials) {
    this.#url = new URL(url);
    this.#signer = new RequestSigner(region, 'appsync');
    this.#credentials = credentials;
  }

  async publish(channel: string, events: readonly string[]): Promise<void> {
    const body = JSON.stringify({ channel, events });
    const { host, pathname: path } = this.#url;
    const signed = { 'content-type': 'application/json' };
    const { host: _host, ...headers } = this.#signer.sign(
      { host, path, headers: signed, body },
      this.#credentials,
      Date.now(),
    );
    const response = await fetch(this.#url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(PUBLISH_MILLISECONDS),
    });
    const answer: unknown = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(`The Event API answered ${response.status}`);
    const { failed } = Answer.parse(answer);
    if (failed.length > 0) throw new Error(`The Event API rejected ${failed.length} of ${events.length} events`);
  }
}

export const publishEventsLive: Capability<HintPublisher> = {
  grants: [{ resource: 'live/channels', actions: ['EventPublish'] }],
  env: ['LIVE_HTTP_HOST', 'LIVE_REALTIME_HOST'],
  open: (env) =>
    new HttpEventPublisher(eventApiAddress(env).httpUrl, optionalVariable(env, 'AWS_REGION') ?? '', {
      accessKeyId: optionalVariable(env, 'AWS_ACCESS_KEY_ID') ?? '',
      secretAccessKey: optionalVariable(env, 'AWS_SECRET_ACCESS_KEY') ?? '',
      sessionToken: optionalVariable(env, 'AWS_SESSION_TOKEN'),
    }),
};
