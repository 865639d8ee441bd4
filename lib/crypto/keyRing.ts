import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { openSecrets } from './secretsClient.ts';

const Secret = z.object({ current: z.string() }).catchall(z.string());

/** Callers can send invented versions, which must not flood Secrets Manager with reads. */
const RETRY_MILLISECONDS = 10_000;
/** A rotation takes effect within this time, unless reads of the secret fail. */
export const CURRENT_KEY_MILLISECONDS = 5 * 60_000;
/** After this time, the keys of the previous read stay in use. */
const REFRESH_TIMEOUT_MILLISECONDS = 1_000;

/**
 * A secret with versioned keys: `{ "current": "2", "1": "…", "2": "…" }`. To rotate, an operator adds version 2 and
 * sets `current` to it. What version 1 sealed stays readable.
 */
export class KeyRing {
  readonly #arn: string;
  readonly #openClient: () => SecretsManagerClient;
  #keys: Promise<Map<string, string>> | undefined;
  #readAt = 0;

  constructor(arn: string, openClient = openSecrets) {
    this.#arn = arn;
    this.#openClient = openClient;
  }

  async current(): Promise<{ version: string; key: string }> {
    if (this.#keys && Date.now() - this.#readAt > CURRENT_KEY_MILLISECONDS) this.#refresh(this.#keys);
    const keys = await this.#read();
    const version = keys.get('current') ?? '';
    return { version, key: await this.byVersion(version) };
  }

  async byVersion(version: string): Promise<string> {
    const key = await this.find(version);
    if (key === undefined) throw new Error(`The secret has no key of version ${JSON.stringify(version)}`);
    return key;
  }

  /** If the version is missing, reads the secret again, at most every 10 seconds. */
  async find(version: string): Promise<string | undefined> {
    // The entry `current` contains the name of a version, not a key.
    if (version === 'current') return undefined;
    const key = (await this.#read()).get(version);
    if (key !== undefined || Date.now() - this.#readAt <= RETRY_MILLISECONDS) return key;
    this.#keys = undefined;
    return (await this.#read()).get(version);
  }

  #refresh(keys: Promise<Map<string, string>>): void {
    this.#keys = this.#fetch(AbortSignal.timeout(REFRESH_TIMEOUT_MILLISECONDS)).catch(() => keys);
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
    const { SecretString } = await this.#openClient().send(new GetSecretValueCommand({ SecretId: this.#arn }), {
      ...(abortSignal && { abortSignal }),
    });
    return new Map(Object.entries(Secret.parse(JSON.parse(SecretString ?? '{}'))));
  }
}

export const masterKey: Capability<KeyRing> = {
  grants: [{ resource: 'secret/masterKey', actions: ['GetSecretValue'] }],
  env: ['MASTER_KEY_SECRET_ARN'],
  open: (env) => new KeyRing(env.MASTER_KEY_SECRET_ARN),
};

export const signingKey: Capability<KeyRing> = {
  grants: [{ resource: 'secret/signingKey', actions: ['GetSecretValue'] }],
  env: ['SIGNING_KEY_SECRET_ARN'],
  open: (env) => new KeyRing(env.SIGNING_KEY_SECRET_ARN),
};

export const permissionKey: Capability<KeyRing> = {
  grants: [{ resource: 'secret/permissionKey', actions: ['GetSecretValue'] }],
  env: ['PERMISSION_KEY_SECRET_ARN'],
  open: (env) => new KeyRing(env.PERMISSION_KEY_SECRET_ARN),
};

/** For the names of live channels, and to encrypt tokens for the WebSocket. */
export const liveKey: Capability<KeyRing> = {
  grants: [{ resource: 'secret/liveKey', actions: ['GetSecretValue'] }],
  env: ['LIVE_KEY_SECRET_ARN'],
  open: (env) => new KeyRing(env.LIVE_KEY_SECRET_ARN),
};
