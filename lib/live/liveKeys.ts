import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { type KeyRing, liveKey } from '../crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import { decodeBase64Url } from '../shared/base64Url.ts';
import { ChannelNames } from './rules/channels.ts';
import type { DocumentKeys } from './rules/hints.ts';

export const TOKEN_SECONDS = 15 * 60;

/**
 * Entries of the secret. Channel names come from one of them, so a rotation does not change them. After a leak of the
 * key `1`, the operator renames its entry to `channels`: the names stay, and the service refuses tokens of that key.
 */
const FIRST_VERSION = '1';
const CHANNELS_ENTRY = 'channels';

const Claims = z.object({
  t: z.string(),
  o: z.string(),
  d: z.string(),
  /**
   * The user id as keys of the table contain it: a long id is a hash there, which keeps the token below AppSync's 2,048
   * characters.
   */
  u: z.string(),
  /** Epoch seconds. */
  e: z.number(),
});

export interface LiveTokenClaims extends DocumentKeys {
  readonly userPart: string;
}

export class LiveKeys {
  readonly #ring: KeyRing;
  #names: Promise<ChannelNames> | undefined;

  constructor(ring: KeyRing) {
    this.#ring = ring;
  }

  names(): Promise<ChannelNames> {
    this.#names ??= this.#readNames().catch((error: unknown) => {
      this.#names = undefined;
      throw error;
    });
    return this.#names;
  }

  /** The token is encrypted, so clients cannot read its ids. `expiresAt` is in epoch ms. */
  async issueToken(claims: LiveTokenClaims, now: number): Promise<{ token: string; expiresAt: number }> {
    const { version, key } = await this.#ring.current();
    const end = Math.floor(now / 1000) + TOKEN_SECONDS;
    const { tenant: t, organizationKey: o, documentKey: d, userPart: u } = claims;
    const sealed = sealBytes(tokenKey(key), Buffer.from(JSON.stringify({ t, o, d, u, e: end })), [version]);
    return { token: `${version}.${sealed.toString('base64url')}`, expiresAt: end * 1000 };
  }

  /** Returns undefined for a token that is expired, invalid, or of a removed key. */
  async readToken(token: string, now: number): Promise<LiveTokenClaims | undefined> {
    const [version = '', text = '', ...others] = token.split('.');
    if (others.length > 0) return undefined;
    // Reads the secret again every five minutes. Otherwise a process would accept a version after its removal.
    await this.#ring.current();
    const key = version === CHANNELS_ENTRY ? undefined : await this.#ring.find(version);
    const sealed = decodeBase64Url(text);
    const plain = key && sealed && openBytes(tokenKey(key), sealed, [version]);
    if (!plain) return undefined;
    const { t, o, d, u, e } = Claims.parse(JSON.parse(plain.toString()));
    return e * 1000 > now ? { tenant: t, organizationKey: o, documentKey: d, userPart: u } : undefined;
  }

  async #readNames(): Promise<ChannelNames> {
    const ring = this.#ring;
    const key = (await ring.find(CHANNELS_ENTRY)) ?? (await ring.find(FIRST_VERSION)) ?? (await ring.current()).key;
    return new ChannelNames(deriveKey(key, ['liveChannels']));
  }
}

function tokenKey(key: string): Buffer {
  return deriveKey(key, ['liveToken']);
}

export const liveKeys: Capability<LiveKeys> = /* @__PURE__ */ combine(
  { ring: liveKey },
  ({ ring }) => new LiveKeys(ring),
);
