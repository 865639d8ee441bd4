import { callSender, type CallSettings, methodTree, ServiceError } from './calls.ts';
import type { SocketConstructor } from './eventSocket.ts';
import { type DocumentName, LiveDocument } from './liveDocument.ts';
import { operations, type UserMethods } from './methods.ts';

export { ServiceError } from './calls.ts';
export { pages } from './pages.ts';

export interface UserClientOptions extends CallSettings {
  /** Returns a user token from your server. The client calls this function again when a token expires or is rejected. */
  readonly token: () => Promise<string>;
  /** The WebSocket class. By default, the platform's own. */
  readonly WebSocket?: SocketConstructor;
}

/** A client for one user. It has the endpoints that accept user tokens, and live documents. */
export interface UserClient extends UserMethods {
  /**
   * Returns the live connection of a document. All calls for the same document share one connection and its listeners. The
   * connection ends when `close` has been called once for each call.
   */
  live(document: DocumentName): LiveDocument;
}

/** A live document, and the number of `live` calls that have not been closed. */
interface SharedDocument {
  readonly live: LiveDocument;
  users: number;
}

/** A token is renewed this long before it expires (milliseconds). */
const RENEW_MILLISECONDS = 60_000;

/** Reads a user token from `source` and keeps it until shortly before it expires. */
class UserToken {
  readonly #source: () => Promise<string>;
  #token: Promise<string> | undefined;
  /** Epoch milliseconds. */
  #expiresAt = Infinity;
  /** The user id in the last token. Undefined before the first token. */
  userId: string | undefined;

  constructor(source: () => Promise<string>) {
    this.#source = source;
  }

  async read(): Promise<string> {
    if (Date.now() > this.#expiresAt - RENEW_MILLISECONDS) this.drop();
    this.#token ??= this.#load();
    return this.#token;
  }

  /** The token that calls use now. */
  get current(): Promise<string> | undefined {
    return this.#token;
  }

  drop(): void {
    this.#token = undefined;
    this.#expiresAt = Infinity;
  }

  async #load(): Promise<string> {
    try {
      const token = await this.#source();
      const { sub, exp } = claimsOf(token);
      this.userId = sub;
      // A token that expires soon is still used for a minute. Otherwise, a server that returns such tokens would be
      // called for every request.
      this.#expiresAt = exp === undefined ? Infinity : Math.max(exp * 1000, Date.now() + 2 * RENEW_MILLISECONDS);
      return token;
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }
}

/** Returns the user id and the expiry in a JWT, without verifying it. Returns an empty object for any other text. */
function claimsOf(token: string): { readonly sub?: string; readonly exp?: number } {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    );
    const { sub, exp } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    return { ...(typeof sub === 'string' && { sub }), ...(typeof exp === 'number' && { exp }) };
  } catch {
    return {};
  }
}

/**
 * Returns a client for one user, for browsers and servers. Methods throw ServiceError like those of `createClient`.
 * After PERMISSION_DENIED, a call is sent once more with a new token.
 */
export function createUserClient({ token: source, WebSocket: Socket, ...settings }: UserClientOptions): UserClient {
  const token = new UserToken(source);
  const send = callSender(settings, async () => ({ authorization: `Bearer ${await token.read()}` }));
  const methods = methodTree(
    operations.filter(({ forUsers }) => forUsers),
    async (operation, data, options) => {
      const sent = send(operation, data, options);
      const used = token.current;
      try {
        return await sent;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status !== 'PERMISSION_DENIED') throw error;
        // Calls that are refused together need one new token.
        if (token.current === used) token.drop();
        return send(operation, data, options);
      }
    },
  ) as UserMethods;
  const documents = new Map<string, SharedDocument>();
  return Object.assign(methods, {
    live({ organizationId, documentId }: DocumentName): LiveDocument {
      const name = JSON.stringify([organizationId, documentId]);
      const stored = documents.get(name);
      // `denied` is final, so a later call opens a new connection. The user may have access again.
      const open = stored?.live.status === 'denied' ? undefined : stored;
      const shared: SharedDocument = open ?? {
        users: 0,
        live: new LiveDocument({
          methods,
          document: { organizationId, documentId },
          WebSocket: Socket ?? (globalThis.WebSocket as unknown as SocketConstructor),
          userId: () => token.userId,
          release: () => {
            shared.users -= 1;
            if (shared.users === 0 && documents.get(name) === shared) documents.delete(name);
            return shared.users === 0;
          },
        }),
      };
      shared.users += 1;
      documents.set(name, shared);
      return shared.live;
    },
  });
}
