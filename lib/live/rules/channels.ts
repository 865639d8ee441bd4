import { createHmac } from 'node:crypto';
import type { DocumentKeys } from './hints.ts';

export const DOCUMENT_NAMESPACE = 'live';
export const USER_NAMESPACE = 'user';
const AWARENESS = 'awareness';

/** AppSync accepts up to 50 letters, digits and dashes. */
const SEGMENT_LENGTH = 40;

export interface ChannelOwner extends DocumentKeys {
  readonly epoch: number;
}

/** `tokenRevocations` counts how often all user tokens of the API key were revoked. */
export interface UserChannelOwner {
  readonly tenant: string;
  readonly userKey: string;
  readonly tokenRevocations: number;
}

/** Clients may publish only to the awareness channel. */
export interface DocumentChannels {
  readonly document: string;
  readonly awareness: string;
}

/** Nobody can guess a keyed hash of internal ids without the key. */
export class ChannelNames {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  ofDocument({ tenant, organizationKey, documentKey, epoch }: ChannelOwner): DocumentChannels {
    const segments = [
      this.#segment(['tenant', tenant]),
      this.#segment(['organization', tenant, organizationKey]),
      this.#segment(['document', tenant, organizationKey, documentKey, String(epoch)]),
    ];
    const document = `/${DOCUMENT_NAMESPACE}/${segments.join('/')}`;
    return { document, awareness: `${document}/${AWARENESS}` };
  }

  ofUser({ tenant, userKey, tokenRevocations }: UserChannelOwner): string {
    const user = this.#segment(['user', tenant, userKey, String(tokenRevocations)]);
    return `/${USER_NAMESPACE}/${this.#segment(['tenant', tenant])}/${user}`;
  }

  /** Base64url could begin or end with a dash, which AppSync rejects. */
  #segment(parts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('hex').slice(0, SEGMENT_LENGTH);
  }
}
