import * as z from 'zod';
import { accessRoles } from '../directory/rules/access.ts';
import { NamedResource } from '../directory/rules/namedResource.ts';
import { defineNamedSchema, Id, limits, list, Name, optional, UnixSeconds } from '../shared/schema.ts';
import type { TokenRequest } from './generateToken.ts';

const TokenGrant = /* @__PURE__ */ defineNamedSchema('TokenGrant', () =>
  NamedResource.safeExtend({ accessRole: optional(z.enum(accessRoles)), expiresAt: optional(UnixSeconds) }),
);

/** The resources to which a requested token gives access. */
export const TokenPermissions = z.object({ resources: list(TokenGrant, limits.permissionIds, 0) });

const TokenUserProperties = /* @__PURE__ */ defineNamedSchema('TokenUserProperties', () =>
  z.object({
    organizationId: Id,
    name: optional(Name),
    email: optional(Name),
    isAdmin: optional(z.boolean()),
  }),
);

/** The older form of a token request. It has the organization in the properties of the user. */
export const OlderTokenRequest = z.object({
  userId: Id,
  userProperties: TokenUserProperties,
  permissions: optional(TokenPermissions),
});

/**
 * Converts a token request from the older form. The organization becomes one of the resources, unless the request names it
 * there, perhaps with a role or an end.
 */
export function toTokenRequest({
  userId,
  userProperties: { organizationId, name, email, isAdmin = false },
  permissions,
}: z.output<typeof OlderTokenRequest>): TokenRequest {
  const resources = permissions?.resources ?? [];
  const isNamed = resources.some(({ type, id }) => type === 'organization' && id === organizationId);
  const path = ['userProperties', 'organizationId'];
  const organization = { type: 'organization', id: organizationId, path } as const;
  return {
    userId,
    profile: { name, email },
    isAdmin,
    resources: isNamed ? resources : [...resources, organization],
  };
}

export const TokenResponse = z.object({ data: z.object({ token: z.string() }) });

/** The message of every call that returns a user token. */
export const TOKEN_MESSAGE = 'Token generated successfully.';

export const exampleToken = { data: { token: '<signed token>' } };
