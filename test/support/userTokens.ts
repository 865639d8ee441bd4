import type { Customer } from './customer.ts';
import { handlerOf } from './functionHandlers.ts';
import { type Headers, post, type Response, resultOf } from './requests.ts';

/** A user with a token. */
export interface TestUser {
  readonly userId: string;
  readonly token: string;
  readonly headers: Headers;
  /** Sends `data` to an endpoint with the user's token. */
  call(path: string, data: unknown, headers?: Headers): Promise<Response>;
  /** Like `call`, for calls that must succeed. Returns the `data` of the answer. */
  ok(path: string, data: unknown): Promise<any>;
  /** Like `call`. Returns the status of the error, or `OK`. */
  status(path: string, data: unknown): Promise<string>;
}

/** Creates a user token with grants of these resources. */
export async function newUser(
  customer: Customer,
  userId: string,
  resources: readonly object[] = [],
): Promise<TestUser> {
  const { token } = await customer.untyped('/v2/auth/generate_token', {
    userId,
    userProperties: { name: `${userId} of Acme`, email: `${userId}@example.com` },
    permissions: { resources },
  });
  return userWith(userId, token);
}

/** Returns the user who sends this token. */
export function userWith(userId: string, token: string): TestUser {
  const own = { authorization: `Bearer ${token}` };
  const call = async (path: string, data: unknown, headers: Headers = {}) =>
    post(handlerOf(path), { ...own, ...headers }, data);
  return {
    userId,
    token,
    headers: own,
    call,
    ok: async (path, data) => resultOf(await call(path, data), path).data,
    async status(path, data) {
      const { status, body } = await call(path, data);
      return status === 200 ? 'OK' : body.error.status;
    },
  };
}
