import * as z from 'zod';
import { building, type Capability } from '../app/capability.ts';
import { KeyRing } from '../crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import type { Subscriber } from './rules/subscriber.ts';
import { publicUrl } from '../app/publicUrl.ts';

/** The page that the link leads to, and that mail programs post to. */
export const UNSUBSCRIBE_PATH = '/v2/notifications/email/unsubscribe';

/** Tenant, organization and user. */
const Token = z.tuple([z.string(), z.string(), z.string()]);
const BOUND = ['unsubscribe'];

/** What SES takes as the value of a header. */
const LONGEST_HEADER = 870;

/**
 * Makes and reads the links that end a user's mails. A link is sealed, so that nobody can make one up or learn from it who gets it, and
 * never expires: a mail can be read years later. The token is `<version of the master key>.<base64url>`.
 */
export class UnsubscribeLinks {
  readonly #ring: KeyRing;
  readonly #publicUrl: string;

  constructor(ring: KeyRing, at: string) {
    this.#ring = ring;
    this.#publicUrl = at;
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

  /** Whose token it is; undefined when it is none of ours. */
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

/** The headers by which mail programs offer to unsubscribe (RFC 2369, RFC 8058). With ids of hundreds of characters they are too long, and the link in the mail has to do. */
export function unsubscribeHeaders(link: string): Record<string, string> {
  const value = `<${link}>`;
  return value.length > LONGEST_HEADER
    ? {}
    : { 'List-Unsubscribe': value, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** Make and read unsubscribe links. Whoever uses it may read the master key. */
export const unsubscribeLinks: Capability<UnsubscribeLinks> = /* @__PURE__ */ building([publicUrl], {
  grants: [{ resource: 'secret/masterKey', actions: ['GetSecretValue'] }],
  env: ['MASTER_KEY_SECRET_ARN'],
  open: (env) => new UnsubscribeLinks(new KeyRing(env.MASTER_KEY_SECRET_ARN), publicUrl.open(env)),
});
