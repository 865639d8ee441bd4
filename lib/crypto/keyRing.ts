import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { clientSettings } from '../app/sdkSettings.ts';

const Secret = z.object({ current: z.string() }).catchall(z.string());

/** After a miss the secret is read again at most this often, so that a wrong version in an item cannot cause a flood. */
const REFRESH_MILLISECONDS = 10_000;
/** For how long a version counts as the current one without looking: so soon after a rotation everything new is under the new one. */
const CURRENT_MILLISECONDS = 5 * 60_000;
/** For how long that look may hold up a call, which can go on with what is known. */
const LOOK_MILLISECONDS = 1_000;

/**
 * A secret of Secrets Manager that holds versioned keys: `{ "current": "2", "1": "…", "2": "…" }`. What was written
 * under version 1 stays readable after an operator adds version 2 and points `current` at it.
 */
export class KeyRing {
  readonly #arn: string;
  readonly #client: SecretsManagerClient;
  #keys: Promise<Map<string, string>> | undefined;
  #readAt = 0;

  constructor(arn: string, client = new SecretsManagerClient(clientSettings)) {
    this.#arn = arn;
    this.#client = client;
  }

  /** The version that new things are written under, and its key. */
  async current(): Promise<{ version: string; key: string }> {
    if (this.#keys && Date.now() - this.#readAt > CURRENT_MILLISECONDS) this.#readAgain(this.#keys);
    const keys = await this.#read();
    const version = keys.get('current') ?? '';
    return { version, key: await this.byVersion(version) };
  }

  /** The key of a version. Throws when the secret has no such version, also after reading it again. */
  async byVersion(version: string): Promise<string> {
    const key = await this.find(version);
    if (key === undefined) throw new Error(`The secret has no key of version ${JSON.stringify(version)}`);
    return key;
  }

  /** The key of a version that somebody outside may have made up; undefined when there is none. */
  async find(version: string): Promise<string | undefined> {
    // The entry that says which version is the current one is no key: anybody could guess it.
    if (version === 'current') return undefined;
    const key = (await this.#read()).get(version);
    if (key !== undefined || Date.now() - this.#readAt <= REFRESH_MILLISECONDS) return key;
    this.#keys = undefined;
    return (await this.#read()).get(version);
  }

  /** What is known goes on to work while Secrets Manager does not answer. */
  #readAgain(known: Promise<Map<string, string>>): void {
    this.#keys = this.#fetch(AbortSignal.timeout(LOOK_MILLISECONDS)).catch(() => known);
  }

  #read(): Promise<Map<string, string>> {
    this.#keys ??= this.#fetch().catch((error: unknown) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #fetch(abortSignal?: AbortSignal): Promise<Map<string, string>> {
    this.#readAt = Date.now();
    const { SecretString } = await this.#client.send(new GetSecretValueCommand({ SecretId: this.#arn }), {
      ...(abortSignal && { abortSignal }),
    });
    return new Map(Object.entries(Secret.parse(JSON.parse(SecretString ?? '{}'))));
  }
}
