import { type Capability, combine } from '../app/capability.ts';
import { UserEntity } from '../directory/users.ts';
import { invalid } from '../shared/errors.ts';
import { tableWith } from '../table/storeCapability.ts';
import { userCredentials } from './userCredentials.ts';

/**
 * Throws INVALID_ARGUMENT unless the field `authToken` of a request is a valid user token of the user. A token of an
 * erased user is not.
 */
type RequireTokenOf = (tenant: string, userId: string, authToken: string, now: number) => Promise<void>;

export const requireTokenOf: Capability<RequireTokenOf> = /* @__PURE__ */ combine(
  { credentials: userCredentials, table: /* @__PURE__ */ tableWith(['GetItem']) },
  ({ credentials, table }): RequireTokenOf =>
    async (tenant, userId, authToken, now) => {
      const headers = { authorization: `Bearer ${authToken}`, origin: undefined };
      const [{ caller }, user] = await Promise.all([
        credentials.read(headers, { now, fresh: true }),
        table.get(UserEntity, { tenant, userId }),
      ]);
      const claims = caller?.tenant === tenant ? caller.claims : undefined;
      if (claims?.userId === userId && claims.userKey === user?.internalId) return;
      throw invalid({
        path: ['authToken'],
        code: 'invalid_user_token',
        message: 'authToken must be a valid user token of user.userId, from /v2/auth/generate_token',
      });
    },
);
