import * as z from 'zod';
import type { AccessRole, ResourceType, UserClaims } from '../../app/rules/access.ts';
import { decodeBase64Url } from '../../shared/base64Url.ts';
import { parseJson } from '../../shared/parseJson.ts';

export const USER_TOKEN_SECONDS = 48 * 60 * 60;

/** Two letters, so that a token with a hundred grants fits into a header. */
const grantCodes = {
  oe: ['organization', 'editor'],
  ov: ['organization', 'viewer'],
  fe: ['folder', 'editor'],
  fv: ['folder', 'viewer'],
  de: ['document', 'editor'],
  dv: ['document', 'viewer'],
} as const satisfies Record<string, readonly [ResourceType, AccessRole]>;
type GrantCode = keyof typeof grantCodes;

/** The two letters, the resource's internal id, and the end in Unix seconds if there is one. */
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
  /** Epoch ms. `iat` has only seconds. */
  issuedAt: z.number(),
  isAdmin: z.boolean(),
  /** By the organization's internal id. */
  grants: z.array(z.tuple([z.string(), z.array(GrantTuple)])),
  seen: z.array(z.string()).optional(),
});
export type TokenPayload = z.output<typeof Payload>;

/** Groups grants by organization, so that the token fits into a header. */
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

/** Undefined if it is not the payload of a user token of this issuer. */
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

/** `revocations` counts how often all user tokens of the API key were revoked. */
export interface TokenKey {
  readonly version: string;
  readonly revocations: number;
}

/** The `kid` in the header of a token. */
export function tokenKeyId({ version, revocations }: TokenKey): string {
  return `${version}.${revocations}`;
}

export function revocationsOf(keyId: string): number {
  return Number(keyId.slice(keyId.lastIndexOf('.') + 1));
}

export interface UnverifiedToken {
  readonly keyId: string;
  readonly claims: UserClaims;
  readonly signedText: string;
  readonly signature: Uint8Array;
}

const Header = z.object({ alg: z.literal('EdDSA'), kid: z.string() });

/** Undefined for a text that is no user token of this issuer. Does not verify the signature. */
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
