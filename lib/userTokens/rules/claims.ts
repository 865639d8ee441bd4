import * as z from 'zod';
import type { AccessRole, ResourceType } from '../../directory/rules/access.ts';

/** How long a user token lives: 48 hours, in seconds. */
export const USER_TOKEN_SECONDS = 48 * 60 * 60;

/** A grant in a user token. It names resources by internal id, so a document that is created again has no grants. */
export interface TokenGrant {
  readonly organizationKey: string;
  readonly resourceType: ResourceType;
  readonly internalId: string;
  readonly accessRole: AccessRole;
  /** The end of the grant, Unix seconds. */
  readonly expiresAt?: number | undefined;
}

/** The content of a user token. */
export interface UserClaims {
  readonly tenant: string;
  /** The customer's id of the user. */
  readonly userId: string;
  /** The internal id of the user, so that a token of an erased user does not work for a new user with the same id. */
  readonly userKey: string;
  readonly tokenId: string;
  /**
   * A secret of the user that all tokens of the user have. Stored answers of calls with an `Idempotency-Key` are
   * encrypted with it, so a renewed token can read them. It is not stored.
   */
  readonly answerKey: string;
  readonly isAdmin: boolean;
  /** Epoch ms. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly grants: readonly TokenGrant[];
}

/** The resource type and role of a grant as two letters. A token with a hundred grants must fit into a header. */
const grantCodes = {
  oe: ['organization', 'editor'],
  ov: ['organization', 'viewer'],
  fe: ['folder', 'editor'],
  fv: ['folder', 'viewer'],
  de: ['document', 'editor'],
  dv: ['document', 'viewer'],
} as const satisfies Record<string, readonly [ResourceType, AccessRole]>;
type GrantCode = keyof typeof grantCodes;

/** A grant in the form of the token: its code, the internal id of the resource, and the end in Unix seconds if the grant ends. */
const GrantTuple = z.union([
  z.tuple([z.enum(Object.keys(grantCodes) as GrantCode[]), z.string()]),
  z.tuple([z.enum(Object.keys(grantCodes) as GrantCode[]), z.string(), z.number()]),
]);

const Payload = z.object({
  iss: z.string(),
  sub: z.string(),
  tenant: z.string(),
  user: z.string(),
  jti: z.string(),
  answerKey: z.string(),
  iat: z.number(),
  exp: z.number(),
  /** The exact time of issue, epoch ms. `iat` has seconds. */
  issuedAt: z.number(),
  isAdmin: z.boolean(),
  /** The grants by organization: the internal id of the organization and its grants. */
  grants: z.array(z.tuple([z.string(), z.array(GrantTuple)])),
});
export type TokenPayload = z.output<typeof Payload>;

/** Returns the payload of a token. Grants are grouped by organization, because tokens travel in a header. */
export function toPayload(issuer: string, claims: UserClaims): TokenPayload {
  const byOrganization = Map.groupBy(claims.grants, ({ organizationKey }) => organizationKey);
  return {
    iss: issuer,
    sub: claims.userId,
    tenant: claims.tenant,
    user: claims.userKey,
    jti: claims.tokenId,
    answerKey: claims.answerKey,
    iat: Math.floor(claims.issuedAt / 1000),
    exp: claims.expiresAt,
    issuedAt: claims.issuedAt,
    isAdmin: claims.isAdmin,
    grants: [...byOrganization].map(([organizationKey, grants]) => [
      organizationKey,
      grants.map(({ resourceType, internalId, accessRole, expiresAt }) => {
        const code = `${resourceType.charAt(0)}${accessRole.charAt(0)}` as GrantCode;
        return expiresAt === undefined ? [code, internalId] : [code, internalId, expiresAt];
      }),
    ]),
  };
}

/** Returns the claims in a payload; undefined unless it is the payload of a user token of this issuer. */
export function toClaims(issuer: string, payload: unknown): UserClaims | undefined {
  const { data } = Payload.safeParse(payload);
  if (data?.iss !== issuer) return undefined;
  return {
    tenant: data.tenant,
    userId: data.sub,
    userKey: data.user,
    tokenId: data.jti,
    answerKey: data.answerKey,
    isAdmin: data.isAdmin,
    issuedAt: data.issuedAt,
    expiresAt: data.exp,
    grants: data.grants.flatMap(([organizationKey, grants]) =>
      grants.map(([code, internalId, expiresAt]) => {
        const [resourceType, accessRole] = grantCodes[code];
        return { organizationKey, resourceType, internalId, accessRole, ...(expiresAt !== undefined && { expiresAt }) };
      }),
    ),
  };
}

/** A token in its parts, before its signature is verified. */
export interface UnverifiedToken {
  /** The id of the key that signed the token. */
  readonly keyId: string;
  readonly claims: UserClaims;
  /** The text that is signed. */
  readonly signedText: string;
  readonly signature: Uint8Array;
}

const Header = z.object({ alg: z.literal('EdDSA'), kid: z.string() });

/** Returns the parts of a user token; undefined for any other text. The signature is not verified. */
export function parseToken(issuer: string, token: string): UnverifiedToken | undefined {
  const [header = '', payload = '', signature = '', ...others] = token.split('.');
  if (others.length > 0 || signature === '') return undefined;
  const parsedHeader = Header.safeParse(parseJson(header));
  const claims = toClaims(issuer, parseJson(payload));
  if (!parsedHeader.success || !claims) return undefined;
  return {
    keyId: parsedHeader.data.kid,
    claims,
    signedText: `${header}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

function parseJson(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString());
  } catch {
    return undefined;
  }
}
