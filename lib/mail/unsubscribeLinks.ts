import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { publicUrl } from '../app/publicUrl.ts';
import { type KeyRing, masterKey } from '../crypto/keyRing.ts';
import { deriveKey, openBytes, sealBytes } from '../crypto/sealing.ts';
import type { Subscriber } from '../notifications/unsubscriber.ts';
import { decodeBase64Url } from '../shared/base64Url.ts';

/** Mail programs POST to the path of the page for one-click unsubscription. */
export const UNSUBSCRIBE_PATH = '/v2/notifications/email/unsubscribe';

const Token = z.tuple([z.string(), z.string(), z.string()]);
const BOUND = ['unsubscribe'];

/** SES accepts header values up to this length. */
const MAX_HEADER_CHARACTERS = 870;

/**
 * The token is `<version of the master key>.<base64url>`. It is encrypted, so nobody can forge it or read its user. It
 * never expires, because a mail may be read years later.
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

  /** Undefined if the text is not a token of this service. */
  async subscriberOf(token: string): Promise<Subscriber | undefined> {
    const [, version, sealed] = /^([\w-]{1,32})\.([\w-]{1,8192})$/.exec(token) ?? [];
    const bytes = sealed === undefined ? undefined : decodeBase64Url(sealed);
    const key = version === undefined || !bytes ? undefined : await this.#ring.find(version);
    const plain = key === undefined || !bytes ? undefined : openBytes(deriveKey(key, BOUND), bytes, BOUND);
    if (!plain) return undefined;
    const [tenant, organizationId, userId] = Token.parse(JSON.parse(plain.toString()));
    return { tenant, organizationId, userId };
  }
}

/** One-click unsubscription (RFC 2369, RFC 8058). None if long ids make the link too long for a header. */
export function unsubscribeHeaders(link: string): Record<string, string> {
  const value = `<${link}>`;
  return value.length > MAX_HEADER_CHARACTERS
    ? {}
    : { 'List-Unsubscribe': value, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

export const unsubscribeLinks: Capability<UnsubscribeLinks> = /* @__PURE__ */ combine(
  { ring: masterKey, url: publicUrl },
  ({ ring, url }) => new UnsubscribeLinks(ring, url),
);
