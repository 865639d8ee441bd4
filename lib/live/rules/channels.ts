import { createHmac } from 'node:crypto';

/** The namespace of document channels and awareness channels. */
export const DOCUMENT_NAMESPACE = 'live';
/** The namespace of the channels of single users. */
export const USER_NAMESPACE = 'user';
/** The last segment of an awareness channel. */
export const AWARENESS = 'awareness';

/** The number of characters of a segment. AppSync accepts up to 50 letters, digits and dashes. */
const SEGMENT_LENGTH = 40;

/** The internal ids of a document with the access epoch of its channels. */
export interface ChannelOwner {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly documentKey: string;
  /** The access epoch. It grows whenever a user loses access to the document. Each epoch has its own channels. */
  readonly epoch: number;
}

/** The channels of a document. Clients publish to the awareness channel only. */
export interface DocumentChannels {
  readonly document: string;
  readonly awareness: string;
}

/** Names channels by keyed hashes of internal ids. Without the key nobody can guess or enumerate the names. */
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

  /** Returns the channel of a user. */
  ofUser({ tenant, userId }: { readonly tenant: string; readonly userId: string }): string {
    return `/${USER_NAMESPACE}/${this.#segment(['tenant', tenant])}/${this.#segment(['user', tenant, userId])}`;
  }

  /** Returns a hash of the parts as hexadecimal digits. Base64url could begin or end with a dash, which AppSync does not allow. */
  #segment(parts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest('hex').slice(0, SEGMENT_LENGTH);
  }
}
