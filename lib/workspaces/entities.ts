import * as z from 'zod';
import { apiKeyTypes } from './rules/workspaces.ts';
import { limitClasses } from './rules/rateLimit.ts';
import { features } from '../shared/features.ts';
import { defineEntity } from '../table/entity.ts';

const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** A workspace. It has one owner, and each of its API keys is a tenant. */
export const WorkspaceEntity = defineEntity({
  type: 'Workspace',
  version: 1,
  scope: 'workspace',
  ownedBy: 'workspace',
  purpose: 'A workspace, its owner and the hash of its auth token',
  schema: z.object({
    workspaceId: z.string(),
    workspaceName: z.string(),
    owner: z.object({ id: z.string(), email: z.string(), name: z.string(), avatar: z.string() }),
    /** The time at which the owner's e-mail address was verified, epoch ms; absent before. */
    verifiedAt: z.number().optional(),
    /**
     * How long after the creation of the workspace its API keys work without a verified address, in ms. It can only
     * shorten the operator's setting `unverifiedGraceDays`. Absent if only that setting applies.
     */
    verifyWithinMs: z.number().optional(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    createdAt: z.number(),
  }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** The workspace of an owner's e-mail address, in lower case. An address has at most one workspace. */
export const OwnerEmailEntity = defineEntity({
  type: 'OwnerEmail',
  version: 1,
  scope: 'service',
  ownedBy: 'workspace',
  purpose: "The workspace of an owner's e-mail address",
  schema: z.object({
    email: z.string(),
    workspaceId: z.string(),
    /** The time at which the expiry of the workspace's API keys was removed after the verification, epoch ms. */
    reactivatedAt: z.number().optional(),
  }),
  pk: (of: { email: string }) => ['OWNER', of.email],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** An API key, which is a tenant. This one small item has all data that authentication needs. */
export const ApiKeyEntity = defineEntity({
  type: 'ApiKey',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'An API key and the hashes of its auth tokens. Every request reads it once',
  schema: z.object({
    apiKey: z.string(),
    workspaceId: z.string(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    /** The public keys (Ed25519, 32 bytes) that verify user tokens, the newest last. */
    userTokenKeys: z.array(z.object({ keyId: z.string(), publicKey: Bytes })).optional(),
    /** How often all user tokens were revoked. New tokens are signed with the key of this number. */
    userTokenRevocations: z.number().optional(),
    /** The features that this API key cannot use. They are in this item because every request reads it. */
    withheld: z.array(z.enum(features)).optional(),
    /** Calls per second by class. A class without a value has the limit from the operator's settings. */
    limits: z.partialRecord(z.enum(limitClasses), z.number()).optional(),
    /** The time at which the API key expires, epoch ms; absent after the owner's address is verified. */
    expiresAt: z.number().optional(),
    createdAt: z.number(),
  }),
  pk: (of: { apiKey: string }) => [of.apiKey],
  sk: (_key: unknown) => ['KEY'],
});

/** An API key in the list of its workspace. */
export const WorkspaceApiKeyEntity = defineEntity({
  type: 'WorkspaceApiKey',
  version: 1,
  scope: 'workspace',
  ownedBy: 'workspace',
  purpose: 'An API key in the list of its workspace, which is sorted by age',
  schema: z.object({ apiKey: z.string(), apiKeyName: z.string(), type: z.enum(apiKeyTypes), createdAt: z.number() }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (key: { apiKey: string }) => ['KEY', key.apiKey],
});

/** An auth token of an API key. `sealed` is its text, encrypted for the purpose `authToken` and the id of the token. */
export const AuthTokenEntity = defineEntity({
  type: 'AuthToken',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'An auth token of an API key, its text encrypted',
  schema: z.object({
    tokenId: z.string(),
    name: z.string(),
    domains: z.array(z.string()),
    sealed: z.string(),
    createdAt: z.number(),
  }),
  pk: (of: { apiKey: string }) => [of.apiKey],
  sk: (key: { tokenId: string }) => ['TOKEN', key.tokenId],
});
