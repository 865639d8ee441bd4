import { createHmac } from 'node:crypto';
import type { DocumentKeys } from './hints.ts';

/** The namespace of document channels and awareness channels. */
export const DOCUMENT_NAMESPACE = 'live';
/** The namespace of the channels of single users. */
export const USER_NAMESPACE = 'user';
/** The last segment of an awareness channel. */
const AWARENESS = 'awareness';

/** The number of characters of a segment of a channel name. AppSync accepts up to 50 letters, digits and dashes. */
const SEGMENT_LENGTH = 40;

/** The internal ids of a document, and an access epoch. */
export interface ChannelOwner extends DocumentKeys {
  /** The access epoch grows whenever a user loses access to the document. Each epoch has its own channels. */
  readonly epoch: number;
}

/**
 * A user of an API key, and the revocation count: the number of times that all user tokens of the API key were revoked.
 */
export interface UserChannelOwner {
  readonly tenant: string;
  readonly userKey: string;
  readonly tokenRevocations: number;
}

/** The channels of a document. Clients may publish only to the awareness channel. */
export interface DocumentChannels {
  readonly document: string;
  readonly awareness: string;
}

/** Names channels by keyed hashes of internal ids. Nobody can guess a name without the key. */
export class ChannelNames {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Returns the channels of a document in one access epoch. */
  ofDocument({ tenant, organizationKey, documentKey, epoch }: ChannelOwner): DocumentChannels {
    const segments = [
      this.#segment(['tenant', tenant]),
      this.#segment(['organization', tenant, organizationKey]),
      this.#segment(['document', tenant, organizationKey, documentKey, String(epoch)]),
    ];
    const document = `/${DOCUMENT_NAMESPACE}/${segments.join('/')}`;
    return { document, awareness: `${document}/${AWARENESS}` };
  }

  /** Returns the channel of a user. It changes when all user tokens are revoked. */
  ofUser({ tenant, userKey, tokenRevocations }: UserChannelOwner): string {
    const user = this.#segment(['user', tenant, userKey, String(tokenRevocations)]);
    return `/${USER_NAMESPACE}/${this.#segment(['tenant', tenant])}/${user}`;
  }

  /** Returns a hash of the parts in hexadecimal. Base64url could begin or end with a dash, which AppSync rejects. */
  #segment(parts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('hex').slice(0, SEGMENT_LENGTH);
  }
}
