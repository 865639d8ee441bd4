import { combine } from '../app/capability.ts';
import { type AccessRole, defaultAccessRole } from '../app/rules/access.ts';
import { readRemovals } from '../directory/accessRemovals.ts';
import { findResources, type ResourceReference } from '../directory/resources.ts';
import { REMOVED_MEANWHILE, type ScopedResource, writeUsers } from '../directory/userWriter.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { requireFuture } from '../shared/times.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { issueUserTokens } from './issuer.ts';
import { USER_TOKEN_SECONDS } from './rules/claims.ts';
import { type AccessRemoval, disablingId, seenRemovals } from './rules/tokenAccess.ts';

/** API Gateway accepts 10,240 bytes of headers, and browsers send others too. */
const MAX_TOKEN_CHARACTERS = 7_500;
const PARALLEL = 8;

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
 * Creates a user, or replaces the sent fields of the profile. Makes the user a member of the requested organizations,
 * and returns a token with the grants. Among other errors, throws ABORTED if the user's access to one of the resources
 * is removed at the same time, and INVALID_ARGUMENT if the grants do not fit into a token.
 */
export type GenerateUserToken = (tenant: string, request: TokenRequest, context: CallContext) => Promise<string>;

export const generateUserToken = /* @__PURE__ */ combine(
  {
    finder: findResources,
    users: writeUsers,
    tokens: issueUserTokens,
    table: /* @__PURE__ */ tableWith(['Query']),
  },
  ({ finder, users, tokens, table }): GenerateUserToken =>
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
      // All internal ids of users have the same length, so this token is as long as that of the registered user. A
      // request whose token is too long must not register the user.
      if ((await sign(claims)).length > MAX_TOKEN_CHARACTERS) throw tooManyGrants();
      const memberships = [...grants.values()].filter(({ resourceType }) => resourceType === 'organization');
      const [results, removals] = await Promise.all([
        users.register(tenant, { userId, profile }, memberships, now),
        removalsBefore(table, userId, targets),
      ]);
      const failed = results.find(({ success }) => !success);
      if (failed) throw registrationFault(failed.message);
      // A removal that is written later ends the token by its time.
      const seen = seenRemovals(removals, now);
      if (seen === 'overlaps') throw new ApiError('ABORTED', REMOVED_MEANWHILE);
      return sign({ ...claims, userKey: results[0]?.id ?? '', seen });
    },
);

async function removalsBefore(
  table: Table,
  userId: string,
  targets: readonly (ScopedResource & { readonly disabledAt?: number | undefined })[],
): Promise<AccessRemoval[]> {
  const organizations = [...Map.groupBy(targets, ({ scope }) => scope.organizationKey).values()];
  const removals = await inParallel(organizations, PARALLEL, async (named) => {
    const { scope, disabledAt } = named[0] as (typeof named)[number];
    const { organizationKey } = scope;
    const ids = new Set([organizationKey, ...named.map(({ resource }) => resource.internalId)]);
    const isRelevant = ({ internalId, isRevocation, folder }: AccessRemoval) =>
      ids.has(internalId) || (isRevocation && folder === true);
    const disabled: AccessRemoval[] =
      disabledAt === undefined
        ? []
        : [
            {
              id: disablingId(organizationKey, disabledAt),
              internalId: organizationKey,
              removedAt: disabledAt,
              isRevocation: true,
            },
          ];
    return [...disabled, ...(await readRemovals(table, scope, userId)).filter(isRelevant)];
  });
  return removals.flat();
}

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
