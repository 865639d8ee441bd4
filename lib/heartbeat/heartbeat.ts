import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { clientSettings } from '../app/sdkSettings.ts';
import { callSender, type CallSettings } from '../client/calls.ts';
import { isoTime } from '../shared/isoTime.ts';

/** The organization that every heartbeat writes and reads. The API key of the heartbeat has no other data. */
export const HEARTBEAT_ORGANIZATION = 'heartbeat';

/** The time limit of one call. A heartbeat makes up to three calls, so it ends before its function times out. */
const CALL_MILLISECONDS = 8_000;

/** A text that can be the value of a header. The error of `fetch` about an invalid value quotes the value, which is a credential. */
const HeaderValue = z.string().regex(/^[\x21-\x7e]+$/);

/** The credentials in the secret. Both fields are empty until an operator has stored the credentials. */
const Credentials = z.object({ apiKey: HeaderValue, authToken: HeaderValue });

const Updated = z.object({ data: z.record(z.string(), z.object({ success: z.boolean() })) });
const Read = z.object({ data: z.array(z.object({ organizationName: z.string().optional() })) });

export interface HeartbeatOptions extends Pick<CallSettings, 'baseUrl' | 'fetch'> {
  readonly serviceName: string;
  /** Returns the text of the secret. */
  readonly readSecret: () => Promise<string>;
}

/** Calls the API as a customer does: through the public URL, with an API key. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #headers: Promise<Record<string, string>> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /**
   * Writes the time `now` (epoch ms) into an organization and reads the organization. Creates a missing organization. Throws an
   * error without credentials if the secret has none, if a call fails, or if the read returns an older time.
   */
  async check(now: number): Promise<void> {
    try {
      await this.#writeAndRead(isoTime(now));
    } catch (error) {
      // The operator may have replaced the credentials, so the next heartbeat reads the secret again.
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
    // Two heartbeats can overlap. Then the read can return the later time.
    const stored = data[0]?.organizationName ?? 'nothing';
    if (stored === 'nothing' || stored < time) throw new Error(`The API answered ${stored} after a write of ${time}.`);
  }

  #send(path: string, data: object): Promise<unknown> {
    const { baseUrl, fetch } = this.#options;
    // Customers repeat calls that fail. The heartbeat does not, because each failure must count.
    const settings = { baseUrl, fetch, attempts: 1, timeoutMilliseconds: CALL_MILLISECONDS };
    const send = callSender(settings, () => (this.#headers ??= this.#readHeaders()));
    return send({ path, repeats: false }, data);
  }

  async #readHeaders(): Promise<Record<string, string>> {
    const { readSecret, serviceName } = this.#options;
    const parsed = Credentials.safeParse(jsonOf(await readSecret()));
    if (!parsed.success)
      throw new Error('The secret of the heartbeat has no credentials. An operator must store them.');
    const { apiKey, authToken } = parsed.data;
    return { [`x-${serviceName}-api-key`]: apiKey, [`x-${serviceName}-auth-token`]: authToken };
  }
}

/** Returns the parsed text, or undefined if it is not JSON. The error of the parser is not used, because it quotes the credentials. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const heartbeat: Capability<Heartbeat> = {
  grants: [{ resource: 'secret/heartbeat', actions: ['GetSecretValue'] }],
  env: ['HEARTBEAT_SECRET_ARN', 'PUBLIC_URL', 'SERVICE_NAME'],
  open(env) {
    const client = new SecretsManagerClient(clientSettings);
    const secret = new GetSecretValueCommand({ SecretId: env.HEARTBEAT_SECRET_ARN });
    return new Heartbeat({
      baseUrl: env.PUBLIC_URL,
      serviceName: env.SERVICE_NAME,
      readSecret: async () => (await client.send(secret)).SecretString ?? '',
    });
  },
};
