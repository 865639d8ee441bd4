import * as z from 'zod';
import type { AccessRole, ResourceType, UserClaims } from '../../app/rules/access.ts';
import { decodeBase64Url } from '../../shared/base64Url.ts';
import { parseJson } from '../../shared/parseJson.ts';

/** The lifetime of a user token in seconds: 48 hours. */
export const USER_TOKEN_SECONDS = 48 * 60 * 60;

/**
 * The resource type and the role of a grant as two letters. The short form lets a token with a hundred grants fit into
 * a header.
 */
const grantCodes = {
  oe: ['organization', 'editor'],
  ov: ['organization', 'viewer'],
  fe: ['folder', 'editor'],
  fv: ['folder', 'viewer'],
  de: ['document', 'editor'],
  dv: ['document', 'viewer'],
} as const satisfies Record<string, readonly [ResourceType, AccessRole]>;
type GrantCode = keyof typeof grantCodes;

/** A grant as the token contains it: the two letters, the resource's internal id, and the end in Unix seconds if there is one. */
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
  /** The exact time of issue, epoch ms. `iat` has only seconds. */
  issuedAt: z.number(),
  isAdmin: z.boolean(),
  /** Grants by organization, as pairs of the organization's internal id and its grants. */
  grants: z.array(z.tuple([z.string(), z.array(GrantTuple)])),
  seen: z.array(z.string()).optional(),
});
export type TokenPayload = z.output<typeof Payload>;

/**
 * Returns the payload of a token. Grants are grouped by organization, because this makes the payload shorter and tokens
 * must fit into a header.
 */
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
    ...(claims.seen && claims.seen.length > 0 && { seen: [...claims.seen] }),
  };
}

/** Returns the claims in a payload, or undefined if it is not the payload of a user token of this issuer. */
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
    ...(data.seen && { seen: data.seen }),
    grants: data.grants.flatMap(([organizationKey, grants]) =>
      grants.map(([code, internalId, expiresAt]) => {
        const [resourceType, accessRole] = grantCodes[code];
        return { organizationKey, resourceType, internalId, accessRole, ...(expiresAt !== undefined && { expiresAt }) };
      }),
    ),
  };
}

/**
 * The parts of a private key's id: the version of the signing key, and the revocation count. The count is the number of
 * times that all user tokens of the API key were revoked.
 */
export interface TokenKey {
  readonly version: string;
  readonly revocations: number;
}

/** Returns the id of a private key. The header of a token contains the id of the key that signed it. */
export function tokenKeyId({ version, revocations }: TokenKey): string {
  return `${version}.${revocations}`;
}

/** Returns the revocation count that the id of a private key contains. */
export function revocationsOf(keyId: string): number {
  return Number(keyId.slice(keyId.lastIndexOf('.') + 1));
}

/** The parts of a token whose signature is not verified yet. */
export interface UnverifiedToken {
  /** The id of the key that signed the token. */
  readonly keyId: string;
  readonly claims: UserClaims;
  /** The part of the token that the signature covers. */
  readonly signedText: string;
  readonly signature: Uint8Array;
}

const Header = z.object({ alg: z.literal('EdDSA'), kid: z.string() });

/** Returns the parts of a user token, or undefined for any other text. Does not verify the signature. */
export function parseToken(issuer: string, token: string): UnverifiedToken | undefined {
  const [header = '', payload = '', signature = '', ...others] = token.split('.');
  const signatureBytes = decodeBase64Url(signature);
  if (others.length > 0 || !signatureBytes?.length) return undefined;
  const parsedHeader = Header.safeParse(decode(header));
  const claims = toClaims(issuer, decode(payload));
  if (!parsedHeader.success || !claims) return undefined;
  return {
    keyId: parsedHeader.data.kid,
    claims,
    signedText: `${header}.${payload}`,
    signature: signatureBytes,
  };
}

function decode(base64url: string): unknown {
  const bytes = decodeBase64Url(base64url);
  return bytes && parseJson(bytes.toString());
}
