import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { KeyRing } from '../crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import { publicUrl } from '../app/publicUrl.ts';

/** A user who gets the mails of an organization. */
export interface Subscriber {
  readonly tenant: string;
  readonly organizationId: string;
  readonly userId: string;
}

/** The page of the link. Mail programs send POST requests to it for one-click unsubscription. */
export const UNSUBSCRIBE_PATH = '/v2/notifications/email/unsubscribe';

/** Tenant, organization and user. */
const Token = z.tuple([z.string(), z.string(), z.string()]);
const BOUND = ['unsubscribe'];

/** The longest header value that SES accepts. */
const LONGEST_HEADER = 870;

/**
 * Creates and reads unsubscribe links. Their tokens are encrypted, so nobody can forge one or see whose it is. They never expire, because a mail may
 * be read years later. A token is `<version of the master key>.<base64url>`.
 */
export class UnsubscribeLinks {
  readonly #ring: KeyRing;
  readonly #publicUrl: string;

  constructor(ring: KeyRing, url: string) {
    this.#ring = ring;
    this.#publicUrl = url;
  }

  async linkFor({ tenant, organizationId, userId }: Subscriber): Promise<string> {
    const { version, key } = await this.#ring.current();
    const sealed = sealBytes(
      deriveKey(key, BOUND),
      Buffer.from(JSON.stringify([tenant, organizationId, userId])),
      BOUND,
    );
    return `${this.#publicUrl}${UNSUBSCRIBE_PATH}?token=${version}.${sealed.toString('base64url')}`;
  }

  /** Returns the subscriber of a token; undefined for a text that is no token of this service. */
  async subscriberOf(token: string): Promise<Subscriber | undefined> {
    const [, version, sealed] = /^([\w-]{1,32})\.([\w-]{1,8192})$/.exec(token) ?? [];
    const key = version === undefined ? undefined : await this.#ring.find(version);
    const plain =
      key === undefined ? undefined : openBytes(deriveKey(key, BOUND), Buffer.from(sealed ?? '', 'base64url'), BOUND);
    if (!plain) return undefined;
    const [tenant, organizationId, userId] = Token.parse(JSON.parse(plain.toString()));
    return { tenant, organizationId, userId };
  }
}

/** Returns the headers for one-click unsubscription (RFC 2369, RFC 8058); none when the link is too long for a header, as with very long ids. */
export function unsubscribeHeaders(link: string): Record<string, string> {
  const value = `<${link}>`;
  return value.length > LONGEST_HEADER
    ? {}
    : { 'List-Unsubscribe': value, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

const keyRing: Capability<KeyRing> = {
  grants: [{ resource: 'secret/masterKey', actions: ['GetSecretValue'] }],
  env: ['MASTER_KEY_SECRET_ARN'],
  open: (env) => new KeyRing(env.MASTER_KEY_SECRET_ARN),
};

/** Create and read unsubscribe links. Its users may read the master key. */
export const unsubscribeLinks: Capability<UnsubscribeLinks> = /* @__PURE__ */ combine(
  { ring: keyRing, url: publicUrl },
  ({ ring, url }) => new UnsubscribeLinks(ring, url),
);
