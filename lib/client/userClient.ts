import { callSender, type CallSettings, type CallToken, methodTree, ServiceError } from './calls.ts';
import type { SocketConstructor } from './eventSocket.ts';
import { type DocumentName, LiveDocument } from './liveDocument.ts';
import { operations, type UserMethods } from './methods.ts';

export { ServiceError } from './calls.ts';
export { pages } from './pages.ts';

export interface UserClientOptions extends CallSettings {
  /**
   * Returns a user token from your server within 20 s. Called again for a call near or after the expiry of the last
   * token, and after a rejection of it.
   */
  readonly token: () => Promise<string>;
  readonly WebSocket?: SocketConstructor;
}

export interface UserClient extends UserMethods {
  /**
   * Calls for the same document share one connection until it is denied. It ends when `close` has been called once for
   * each call.
   */
  live(document: DocumentName): LiveDocument;
}

interface SharedDocument {
  readonly live: LiveDocument;
  users: number;
}

const RENEW_MILLISECONDS = 60_000;
const TOKEN_MILLISECONDS = 20_000;

interface KnownToken {
  readonly text: string;
  readonly renewAt: number;
}

class UserToken implements CallToken {
  readonly #source: () => Promise<string>;
  #known: KnownToken | undefined;
  #loading: Promise<string> | undefined;
  userId: string | undefined;

  constructor(source: () => Promise<string>) {
    this.#source = source;
  }

  /** Returns the last token if no new one can be loaded, unless it was refused. */
  async read(): Promise<string> {
    const known = this.#known;
    if (known && Date.now() <= known.renewAt) return known.text;
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    try {
      return await this.#loading;
    } catch (error) {
      if (this.#known) return this.#known.text;
      throw error;
    }
  }

  refuse(token: string): void {
    if (this.#known?.text === token) this.#known = undefined;
  }

  async #load(): Promise<string> {
    const text = await answerOf(this.#source);
    const { sub, exp } = claimsOf(text);
    this.userId = sub;
    // Without the minimum of a minute, tokens that expire soon would be loaded for every request.
    const renewAt = exp === undefined ? Infinity : Math.max(exp * 1000 - RENEW_MILLISECONDS, Date.now() + 60_000);
    this.#known = { text, renewAt };
    return text;
  }
}

async function answerOf(source: () => Promise<string>): Promise<string> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The token function has not answered after ${TOKEN_MILLISECONDS / 1_000} s`)),
    TOKEN_MILLISECONDS,
  );
  try {
    const token: unknown = await Promise.race([late, source()]);
    const text = typeof token === 'string' ? token.trim() : '';
    // An error page in place of a token cannot be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(text)) throw new TypeError('The token function returned a text that is no token');
    return text;
  } catch (error) {
    // The token function can throw the error of another call, which is not the answer to this call.
    throw error instanceof ServiceError ? new Error(error.message, { cause: error }) : error;
  } finally {
    clearTimeout(timer);
  }
}

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

/** For browsers and servers. Methods throw ServiceError, or the abort reason of their `signal`. */
export function createUserClient({ token: source, WebSocket: Socket, ...settings }: UserClientOptions): UserClient {
  const token = new UserToken(source);
  const methods = methodTree(
    operations.filter(({ forUsers }) => forUsers),
    callSender(settings, () => Promise.resolve({}), token),
  ) as UserMethods;
  const documents = new Map<string, SharedDocument>();
  return Object.assign(methods, {
    live({ organizationId, documentId }: DocumentName): LiveDocument {
      const name = JSON.stringify([organizationId, documentId]);
      const stored = documents.get(name);
      // A later call opens a new connection, because the user may have access again.
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
