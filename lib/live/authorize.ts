import { type Capability, combine } from '../app/capability.ts';
import type { AuthorizationRequest } from '../app/worker.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import type { LiveChannel, LiveSession } from './entities.ts';
import { type LiveKeys, liveKeys, type LiveTokenClaims } from './liveKeys.ts';
import { authorizeSessions, type LiveStore } from './liveStore.ts';
import type { DocumentKeys } from './rules/hints.ts';

/** How long a process uses the rights of a session before it reads them again, in milliseconds. */
const REMEMBERED_MILLISECONDS = 10_000;
/**
 * If the rights that a process keeps refuse a request, it reads them again, but not within this time after the last
 * read (milliseconds).
 */
const REREAD_MILLISECONDS = 1_000;
/** The largest number of sessions whose rights a process keeps. */
const MAX_REMEMBERED_SESSIONS = 5_000;

/** The session of a user who may use the channels of a document, with the document and its channels. */
interface Rights {
  readonly document: DocumentKeys;
  readonly channel: LiveChannel;
  readonly session: LiveSession;
}

export interface AuthorizerPorts {
  readonly keys: Pick<LiveKeys, 'names' | 'readToken'>;
  readonly store: Pick<LiveStore, 'session' | 'loadDocument' | 'openDocument' | 'accessOfUsers'>;
}

/** Decides whether a user may connect, subscribe and publish. One object serves all calls of a process. */
export class LiveAuthorizer {
  readonly #ports: AuthorizerPorts;
  readonly #remembered = new BoundedMap<string, { readAt: number; rights: Rights | undefined }>(
    MAX_REMEMBERED_SESSIONS,
  );

  constructor(ports: AuthorizerPorts) {
    this.#ports = ports;
  }

  /**
   * Returns whether a request is allowed. A user may subscribe to the two channels of the token's document and to the
   * user's own channel, and may publish to the awareness channel. A process keeps rights for up to 10 s, so lost access
   * ends within this time. If kept rights refuse a request, they are read again, because the document may have new
   * channels.
   */
  async isAllowed(request: AuthorizationRequest, now: number): Promise<boolean> {
    const claims = await this.#ports.keys.readToken(request.token, now);
    if (!claims) return false;
    const id = JSON.stringify(claims);
    const remembered = this.#remembered.get(id);
    const age = now - (remembered?.readAt ?? -Infinity);
    if (remembered && age < REMEMBERED_MILLISECONDS) {
      if (await this.#allows(remembered.rights, request)) return true;
      if (age < REREAD_MILLISECONDS) return false;
    }
    const rights = await this.#readRights(claims, now);
    this.#remembered.set(id, { readAt: now, rights });
    return this.#allows(rights, request);
  }

  async #allows(rights: Rights | undefined, { operation, channel }: AuthorizationRequest): Promise<boolean> {
    if (!rights) return false;
    if (operation === 'connect') return true;
    const names = await this.#ports.keys.names();
    const { document, awareness } = names.ofDocument({ ...rights.document, epoch: rights.channel.epoch });
    if (operation === 'publish') return channel === awareness;
    const { userKey, tokenRevocations } = rights.session;
    const { tenant } = rights.document;
    const user = userKey === undefined ? undefined : names.ofUser({ tenant, userKey, tokenRevocations });
    return [document, awareness, user].includes(channel);
  }

  async #readRights({ userPart, ...document }: LiveTokenClaims, now: number): Promise<Rights | undefined> {
    const { store } = this.#ports;
    const stored = await store.session(document, userPart, now);
    if (!stored) return undefined;
    const { channel, session } = stored;
    const openDocument = await store.openDocument(await store.loadDocument(document, channel));
    if (!openDocument) return undefined;
    // If only the user token gives access, the session says when this access ends. If the user loses the access
    // earlier, the publisher ends the session, and `store.session` returns undefined.
    if (!session.hasStoredAccess) return (session.accessEndsAt ?? 0) > now ? { document, channel, session } : undefined;
    const access = (await store.accessOfUsers(openDocument, [session.userId], now)).get(session.userId);
    // Another user can have got the id of an erased user.
    const isAllowed = access !== undefined && access.userKey === session.userKey;
    return isAllowed ? { document, channel, session } : undefined;
  }
}

export const authorizeLive: Capability<LiveAuthorizer> = /* @__PURE__ */ combine(
  { keys: liveKeys, store: authorizeSessions },
  (ports) => new LiveAuthorizer(ports),
);
