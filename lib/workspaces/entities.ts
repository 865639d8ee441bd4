import * as z from 'zod';
import { limitClasses } from '../app/rules/limits.ts';
import { features } from '../shared/features.ts';
import { defineEntity } from '../table/entity.ts';
import { apiKeyTypes } from './rules/workspaces.ts';

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
    /** When the owner's e-mail address was verified, epoch ms. Absent before that. */
    verifiedAt: z.number().optional(),
    /**
     * How long the API keys of the workspace work without a verified address, in milliseconds from its creation. This time can only
     * shorten the operator's setting `unverifiedGraceDays`. If absent, only that setting applies.
     */
    verifyWithinMs: z.number().optional(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    createdAt: z.number(),
  }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** Maps an owner's e-mail address in lower case to the workspace. An address has at most one workspace. */
export const OwnerEmailEntity = defineEntity({
  type: 'OwnerEmail',
  version: 1,
  scope: 'service',
  ownedBy: 'workspace',
  purpose: "The workspace of an owner's e-mail address",
  schema: z.object({
    email: z.string(),
    workspaceId: z.string(),
    /** When the expiry of the workspace's API keys was removed after the verification, epoch ms. Absent before that. */
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
    /** The number of times that all user tokens were revoked. The key that signs new tokens derives from it. */
    userTokenRevocations: z.number().optional(),
    /** The features that the operator withholds from this API key. They are in this item because every request reads it. */
    withheld: z.array(z.enum(features)).optional(),
    /**
     * The API key's own limits in calls per second, by class of calls. A class without a limit here has the limit in the operator's
     * settings.
     */
    limits: z.partialRecord(z.enum(limitClasses), z.number()).optional(),
    /** When the API key expires, epoch ms. Absent if it does not expire. */
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
  purpose: 'An API key in the list of its workspace. The list is sorted by age',
  schema: z.object({ apiKey: z.string(), apiKeyName: z.string(), type: z.enum(apiKeyTypes), createdAt: z.number() }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (key: { apiKey: string }) => ['KEY', key.apiKey],
});

/** An auth token of an API key. `sealed` is its encrypted text. */
export const AuthTokenEntity = defineEntity({
  type: 'AuthToken',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'An auth token of an API key, with its encrypted text',
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
