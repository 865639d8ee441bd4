import * as z from 'zod';
import { accessRoles } from '../app/rules/access.ts';
import { NamedResource } from '../directory/rules/namedResource.ts';
import { defineNamedSchema, Id, limits, list, Name, optional, UnixSeconds } from '../shared/schema.ts';
import type { TokenRequest } from './generateToken.ts';

const TokenGrant = /* @__PURE__ */ defineNamedSchema('TokenGrant', () =>
  NamedResource.safeExtend({
    accessRole: optional(z.enum(accessRoles)).describe('What the token lets the user do there. By default `editor`.'),
    expiresAt: optional(UnixSeconds),
  }).describe(
    'An organization, folder or document that the token opens. Without a grant on it, stored grants and access types still count.',
  ),
);

export const TokenPermissions = z.object({
  resources: list(TokenGrant, limits.permissionIds, 0).describe(
    'All grants must fit into a token of 7,500 characters: about a hundred documents of one organization.',
  ),
});

export const IS_ADMIN = 'Is written into the token. It gives no rights in this API. By default false.';

const TokenUserProperties = /* @__PURE__ */ defineNamedSchema('TokenUserProperties', () =>
  z
    .object({
      organizationId: Id.describe('The organization of which the user becomes a member.'),
      name: optional(Name).describe('Replaces the name in the profile. Without it, the profile keeps its name.'),
      email: optional(Name).describe('Replaces the address in the profile. It must be able to receive mail.'),
      isAdmin: optional(z.boolean()).describe(IS_ADMIN),
    })
    .describe('The organization and the profile of the user.'),
);

/** The older form has the organization in the properties of the user. */
export const OlderTokenRequest = z.object({
  userId: Id,
  userProperties: TokenUserProperties,
  permissions: optional(TokenPermissions).describe(
    'What the token opens, beside the organization and the stored grants of the user.',
  ),
});

/** The organization becomes one of the resources, unless the request names it there. */
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

export const TokenResponse = z.object({
  data: z.object({
    token: z.string().describe('The user token: a JWT that is valid for 48 hours. Treat it as opaque.'),
  }),
});

export const TOKEN_MESSAGE = 'Token generated successfully.';

export const exampleToken = { data: { token: '<signed token>' } };
