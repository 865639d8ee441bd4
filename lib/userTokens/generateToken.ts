import { combine } from '../app/capability.ts';
import { findResources, type ResourceReference } from '../directory/resources.ts';
import { type AccessRole, defaultAccessRole } from '../directory/rules/access.ts';
import { writeUsers } from '../directory/userWriter.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { requireFuture } from '../shared/times.ts';
import { issueUserTokens } from './issuer.ts';
import { USER_TOKEN_SECONDS } from './rules/claims.ts';

/**
 * The largest number of characters of a token. API Gateway accepts 10,240 bytes of headers, and browsers send other
 * headers too.
 */
const MAX_TOKEN_CHARACTERS = 7_500;

/** A resource to which a token gives access. */
export type RequestedGrant = ResourceReference & {
  readonly accessRole?: AccessRole | undefined;
  readonly expiresAt?: number | undefined;
};

export interface TokenRequest {
  readonly userId: string;
  readonly profile: { readonly name?: string | undefined; readonly email?: string | undefined };
  readonly isAdmin: boolean;
  readonly resources: readonly RequestedGrant[];
}

interface CallContext {
  readonly now: number;
  readonly newId: (prefix: string) => string;
}

/**
 * Creates a user, or adds missing parts of the profile. Makes the user a member of the requested organizations, and
 * returns a token with the grants. Throws:
 *
 * - INVALID_ARGUMENT for an unknown organization, an end in the past, an address that cannot receive mail, or more grants
 * than fit into a token
 * - NOT_FOUND for an unknown folder or document
 * - FAILED_PRECONDITION for a disabled resource
 */
export type GenerateUserToken = (tenant: string, request: TokenRequest, context: CallContext) => Promise<string>;

export const generateUserToken = /* @__PURE__ */ combine(
  { finder: findResources, users: writeUsers, tokens: issueUserTokens },
  ({ finder, users, tokens }): GenerateUserToken =>
    async (tenant, { userId, profile, isAdmin, resources }, { now, newId }) => {
      requireFuture(['permissions', 'resources'], resources, now / 1000);
      const targets = await finder.require(tenant, resources, { writable: true });
      const grants = new Map(
        targets.map(({ scope, resource, accessRole = defaultAccessRole, expiresAt }) => {
          const grant = { organizationKey: scope.organizationKey, ...resource, accessRole, expiresAt, scope };
          return [resource.internalId, grant] as const;
        }),
      );
      const sign = await tokens.signer(tenant);
      const claims = {
        userId,
        userKey: newId('usr'),
        tokenId: newId('utk'),
        isAdmin,
        issuedAt: now,
        expiresAt: Math.floor(now / 1000) + USER_TOKEN_SECONDS,
        grants: [...grants.values()],
      };
      // All internal ids of users have the same length, so this token is as long as the token of the registered user.
      // A request whose token is too long must not register the user.
      if ((await sign(claims)).length > MAX_TOKEN_CHARACTERS) throw tooManyGrants();
      const memberships = [...grants.values()].filter(({ resourceType }) => resourceType === 'organization');
      const results = await users.register(tenant, { userId, profile }, memberships, now);
      const failed = results.find(({ success }) => !success);
      if (failed) throw registrationFault(failed.message);
      return sign({ ...claims, userKey: results[0]?.id ?? '' });
    },
);

function tooManyGrants(): ApiError {
  return invalid({
    path: ['permissions', 'resources'],
    code: 'too_big',
    message: `permissions.resources: the grants do not fit into a token of ${MAX_TOKEN_CHARACTERS} characters. Grant some of them with /v2/auth/permissions/add`,
  });
}

function registrationFault(message: string): ApiError {
  return message.startsWith('email ')
    ? invalid({ path: ['userProperties', 'email'], code: 'invalid_format', message: `userProperties.${message}` })
    : new ApiError('ABORTED', message);
}
