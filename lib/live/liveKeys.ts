import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { KeyRing } from '../crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import { ChannelNames } from './rules/channels.ts';

/** The lifetime of a token for the WebSocket, in seconds. */
export const TOKEN_SECONDS = 15 * 60;

/** Channel names must not change when the signing key is rotated, so they use its first version. */
const FIRST_VERSION = '1';

const Claims = z.object({
  /** The tenant. */
  t: z.string(),
  /** The internal ids of the organization and the document. */
  o: z.string(),
  d: z.string(),
  /** The user id as a part of keys. A long user id is a hash there, because AppSync accepts tokens of at most 2,048 characters. */
  u: z.string(),
  /** The end of the token, epoch seconds. */
  e: z.number(),
});

/** The document and the user that a token for the WebSocket is for. */
export interface LiveTokenClaims {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly documentKey: string;
  readonly userPart: string;
}

/** Names channels and makes tokens for the WebSocket, with keys that are derived from the signing key. */
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

  /** Returns a token and its end in epoch ms. The token is encrypted, so clients cannot read the ids in it. */
  async issueToken(claims: LiveTokenClaims, now: number): Promise<{ token: string; expiresAt: number }> {
    const { version, key } = await this.#ring.current();
    const end = Math.floor(now / 1000) + TOKEN_SECONDS;
    const { tenant: t, organizationKey: o, documentKey: d, userPart: u } = claims;
    const sealed = sealBytes(tokenKey(key), Buffer.from(JSON.stringify({ t, o, d, u, e: end })), [version]);
    return { token: `${version}.${sealed.toString('base64url')}`, expiresAt: end * 1000 };
  }

  /** Returns the claims of a token. Returns undefined if the token is expired or was not issued by this service. */
  async readToken(token: string, now: number): Promise<LiveTokenClaims | undefined> {
    const [version = '', text = ''] = token.split('.', 2);
    const key = await this.#ring.find(version);
    const sealed = Buffer.from(text, 'base64url');
    // Decoding ignores characters that are not base64url. A token with such characters is rejected, so every token has exactly
    // one text.
    const isExact = sealed.toString('base64url') === text;
    const plain = key && isExact ? openBytes(tokenKey(key), sealed, [version]) : undefined;
    if (!plain) return undefined;
    const { t, o, d, u, e } = Claims.parse(JSON.parse(plain.toString()));
    return e * 1000 > now ? { tenant: t, organizationKey: o, documentKey: d, userPart: u } : undefined;
  }

  async #readNames(): Promise<ChannelNames> {
    const key = (await this.#ring.find(FIRST_VERSION)) ?? (await this.#ring.current()).key;
    return new ChannelNames(deriveKey(key, ['liveChannels']));
  }
}

function tokenKey(key: string): Buffer {
  return deriveKey(key, ['liveToken']);
}

/** The capability to name channels, and to issue and read tokens for the WebSocket. */
export const liveKeys: Capability<LiveKeys> = {
  grants: [{ resource: 'secret/signingKey', actions: ['GetSecretValue'] }],
  env: ['SIGNING_KEY_SECRET_ARN'],
  open: (env) => new LiveKeys(new KeyRing(env.SIGNING_KEY_SECRET_ARN)),
};
