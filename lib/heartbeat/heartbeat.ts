import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { callSender, type CallSettings } from '../client/calls.ts';
import { openSecrets } from '../crypto/secretsClient.ts';
import { isoTime } from '../shared/isoTime.ts';
import { parseJson } from '../shared/parseJson.ts';

const HEARTBEAT_ORGANIZATION = 'heartbeat';

/** A heartbeat makes up to three calls, so it ends before its function times out. */
const CALL_MILLISECONDS = 8_000;

/** `fetch` would quote an invalid value in its error, and the value is a credential. */
const HeaderValue = z.string().regex(/^[\x21-\x7e]+$/);

/** Empty until an operator has stored the credentials. */
const Credentials = z.object({ apiKey: HeaderValue, authToken: HeaderValue });

const Updated = z.object({ data: z.record(z.string(), z.object({ success: z.boolean() })) });
const Read = z.object({ data: z.array(z.object({ organizationName: z.string().optional() })) });

export interface HeartbeatOptions extends Pick<CallSettings, 'baseUrl' | 'fetch'> {
  readonly serviceName: string;
  readonly readSecret: () => Promise<string>;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #headers: Promise<Record<string, string>> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /**
   * Writes `now` (epoch ms) into the organization `heartbeat` and reads it back. Throws if the secret has no
   * credentials, a call fails, or the read returns no time or an older one. The error contains no credentials.
   */
  async check(now: number): Promise<void> {
    try {
      await this.#writeAndRead(isoTime(now));
    } catch (error) {
      // The operator may have replaced the credentials, so the next heartbeat reads them again.
      this.#headers = undefined;
      throw error;
    }
  }

  async #writeAndRead(time: string): Promise<void> {
    const organizations = [{ organizationId: HEARTBEAT_ORGANIZATION, organizationName: time }];
    const { data: results } = Updated.parse(await this.#send('/v2/organizations/update', { organizations }));
    if (!results[HEARTBEAT_ORGANIZATION]?.success) await this.#send('/v2/organizations/add', { organizations });
    const { data } = Read.parse(
      await this.#send('/v2/organizations/get', { organizationIds: [HEARTBEAT_ORGANIZATION] }),
    );
    // If two heartbeats overlap, the read can return the time of the later one.
    const stored = data[0]?.organizationName ?? 'nothing';
    if (stored === 'nothing' || stored < time) throw new Error(`The API answered ${stored} after a write of ${time}.`);
  }

  #send(path: string, data: object): Promise<unknown> {
    const { baseUrl, fetch } = this.#options;
    // Each failure counts, so a failed call is not repeated.
    const settings = { baseUrl, fetch, attempts: 1, timeoutMilliseconds: CALL_MILLISECONDS };
    const send = callSender(settings, () => (this.#headers ??= this.#readHeaders()));
    return send({ path, repeats: false }, data);
  }

  async #readHeaders(): Promise<Record<string, string>> {
    const { readSecret, serviceName } = this.#options;
    const parsed = Credentials.safeParse(parseJson(await readSecret()));
    if (!parsed.success)
      throw new Error('The secret of the heartbeat has no credentials. An operator must store them.');
    const { apiKey, authToken } = parsed.data;
    return { [`x-${serviceName}-api-key`]: apiKey, [`x-${serviceName}-auth-token`]: authToken };
  }
}

export const heartbeat: Capability<Heartbeat> = {
  grants: [{ resource: 'secret/heartbeat', actions: ['GetSecretValue'] }],
  env: ['HEARTBEAT_SECRET_ARN', 'PUBLIC_URL', 'SERVICE_NAME'],
  open(env) {
    const secret = new GetSecretValueCommand({ SecretId: env.HEARTBEAT_SECRET_ARN });
    return new Heartbeat({
      baseUrl: env.PUBLIC_URL,
      serviceName: env.SERVICE_NAME,
      readSecret: async () => (await openSecrets().send(secret)).SecretString ?? '',
    });
  },
};
