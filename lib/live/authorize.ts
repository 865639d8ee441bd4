import { type Capability, combine } from '../app/capability.ts';
import type { AuthorizationRequest } from '../app/worker.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { tableWith } from '../table/storeCapability.ts';
import { AudienceReader } from './audienceReader.ts';
import type { LiveChannel, LiveSession } from './entities.ts';
import { type LiveKeys, liveKeys, type LiveTokenClaims } from './liveKeys.ts';
import type { DocumentKeys } from './rules/hints.ts';
import { SessionStore } from './sessionStore.ts';

/** For this time, a process keeps rights, even if the user has lost access. */
const REMEMBERED_MILLISECONDS = 10_000;
const REREAD_MILLISECONDS = 1_000;
const MAX_REMEMBERED_SESSIONS = 5_000;

interface Rights {
  readonly document: DocumentKeys;
  readonly channel: LiveChannel;
  readonly session: LiveSession;
}

export interface AuthorizerPorts {
  readonly keys: Pick<LiveKeys, 'names' | 'readToken'>;
  readonly sessionStore: Pick<SessionStore, 'session'>;
  readonly audienceReader: Pick<AudienceReader, 'loadDocument' | 'openDocument' | 'accessOfUsers'>;
}

export class LiveAuthorizer {
  readonly #ports: AuthorizerPorts;
  readonly #remembered = new BoundedMap<string, { readAt: number; rights: Rights | undefined }>(
    MAX_REMEMBERED_SESSIONS,
  );

  constructor(ports: AuthorizerPorts) {
    this.#ports = ports;
  }

  /**
   * If kept rights refuse a request, they are read again, at most once a second, because the document may have new
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
    const { sessionStore, audienceReader } = this.#ports;
    const stored = await sessionStore.session(document, userPart, now);
    if (!stored) return undefined;
    const { channel, session } = stored;
    const openDocument = await audienceReader.openDocument(await audienceReader.loadDocument(document, channel));
    if (!openDocument) return undefined;
    if (!session.hasStoredAccess) return (session.accessEndsAt ?? 0) > now ? { document, channel, session } : undefined;
    const access = (await audienceReader.accessOfUsers(openDocument, [session.userId], now)).get(session.userId);
    // Another user can have got the id of an erased user.
    const isAllowed = access !== undefined && access.userKey === session.userKey;
    return isAllowed ? { document, channel, session } : undefined;
  }
}

export const authorizeLive: Capability<LiveAuthorizer> = /* @__PURE__ */ combine(
  { keys: liveKeys, table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']) },
  ({ keys, table }) =>
    new LiveAuthorizer({ keys, sessionStore: new SessionStore(table), audienceReader: new AudienceReader(table) }),
);
