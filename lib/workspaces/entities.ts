import * as z from 'zod';
import { apiKeyTypes } from './rules/workspaces.ts';
import { limitClasses } from './rules/rateLimit.ts';
import { features } from '../shared/features.ts';
import { defineEntity } from '../table/entity.ts';

const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** A workspace: one owner e-mail address, whose API keys are the tenants. */
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
    /** The time of the verification of the owner's address, epoch ms; absent before it. */
    verifiedAt: z.number().optional(),
    /**
     * How long its API keys work without a verified address, in ms after the creation; absent when only the operator's
     * setting applies.
     */
    verifyWithinMs: z.number().optional(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    createdAt: z.number(),
  }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** The workspace of an owner's e-mail address (in lower case). An address has at most one. */
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

/** An API key, which is the tenant. One small item has everything that authentication needs. */
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
    /**
     * Features that the operator does not offer to this API key. They are here because every request reads this item.
     */
    withheld: z.array(z.enum(features)).optional(),
    /** Calls per second by class, where they differ from the operator's settings. */
    limits: z.partialRecord(z.enum(limitClasses), z.number()).optional(),
    /** The time at which the API key expires unless the owner's address is verified before, epoch ms. */
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
  purpose: 'The API keys of a workspace, oldest first',
  schema: z.object({ apiKey: z.string(), apiKeyName: z.string(), type: z.enum(apiKeyTypes), createdAt: z.number() }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (key: { apiKey: string }) => ['KEY', key.apiKey],
});

/** An auth token of an API key. Its text is encrypted for the purpose `authToken` and the token's id. */
export const AuthTokenEntity = defineEntity({
  type: 'AuthToken',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'The auth tokens of an API key, their text encrypted',
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
