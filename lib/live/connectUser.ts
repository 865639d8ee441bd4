import type { UserCaller } from '../app/callers.ts';
import { type Capability, combine } from '../app/capability.ts';
import { type DocumentReference, type FindDocument, findWritableDocument } from '../content/documentScope.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { encodePart } from '../shared/keyParts.ts';
import { tableWith } from '../table/storeCapability.ts';
import { AudienceReader } from './audienceReader.ts';
import { type EventApiAddress, eventApiAddress } from './eventApi.ts';
import { type LiveKeys, liveKeys } from './liveKeys.ts';
import { longerAccess, tokenAccessEnd, tokenResources } from './rules/sessionAccess.ts';
import { SessionStore } from './sessionStore.ts';

export interface Connection {
  readonly url: string;
  readonly host: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly channels: { readonly document: string; readonly awareness: string; readonly user: string };
}

export interface ConnectPorts {
  readonly find: FindDocument;
  readonly sessionStore: Pick<SessionStore, 'connect'>;
  readonly audienceReader: Pick<AudienceReader, 'openDocument' | 'accessOfUsers'>;
  readonly keys: Pick<LiveKeys, 'names' | 'issueToken'>;
  readonly address: EventApiAddress;
}

/**
 * The endpoint must already have checked the rights of the user. Throws the errors of `find`, and PERMISSION_DENIED or
 * ABORTED if the user has just lost access.
 */
export async function connectUser(
  { find, sessionStore, audienceReader, keys, address }: ConnectPorts,
  { tenant, user: { userId, access }, claims, tokenRevocations }: UserCaller,
  reference: DocumentReference,
  now: number,
): Promise<Connection> {
  const context = await find(tenant, reference);
  const { scope } = context;
  const openDocument = await audienceReader.openDocument(context);
  if (!openDocument) throw accessDenied();
  const storedEnd = (await audienceReader.accessOfUsers(openDocument, [userId], now)).get(userId)?.endsAt;
  const token = { ...access.token, now: now / 1000 };
  const tokenEnd = tokenAccessEnd(token, openDocument.documentInFolder, claims.expiresAt);
  const sessionAccess = longerAccess(storedEnd, tokenEnd);
  if (!sessionAccess) throw accessDenied();
  const session = {
    userId,
    userKey: claims.userKey,
    tokenRevocations,
    ...sessionAccess,
    ...(!sessionAccess.hasStoredAccess && { tokenResources: tokenResources(token, openDocument.documentInFolder) }),
  };
  const { epoch } = await sessionStore.connect(scope, reference, session, now);
  const names = await keys.names();
  const document = { tenant, organizationKey: scope.organizationKey, documentKey: scope.documentKey };
  return {
    url: address.realtimeUrl,
    host: address.host,
    ...(await keys.issueToken({ ...document, userPart: encodePart(userId) }, now)),
    channels: {
      ...names.ofDocument({ ...document, epoch }),
      user: names.ofUser({ tenant, userKey: claims.userKey, tokenRevocations }),
    },
  };
}

export const connectUsers: Capability<ConnectPorts> = /* @__PURE__ */ combine(
  {
    find: findWritableDocument,
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem']),
    keys: liveKeys,
  },
  ({ find, table, keys }, env) => ({
    find,
    sessionStore: new SessionStore(table),
    audienceReader: new AudienceReader(table),
    keys,
    address: eventApiAddress(env),
  }),
  ['LIVE_HTTP_HOST', 'LIVE_REALTIME_HOST'],
);
