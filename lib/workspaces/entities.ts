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
    /** When the owner's address was verified, epoch ms; absent while it is not. */
    verifiedAt: z.number().optional(),
    /** How long after the creation its API keys work unless the address is verified, in ms; absent for the operator's setting alone. */
    verifyWithinMs: z.number().optional(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    createdAt: z.number(),
  }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** Which workspace an owner's e-mail address (lower case) has: an address has one. */
export const OwnerEmailEntity = defineEntity({
  type: 'OwnerEmail',
  version: 1,
  scope: 'service',
  ownedBy: 'workspace',
  purpose: "The workspace of an owner's e-mail address",
  schema: z.object({
    email: z.string(),
    workspaceId: z.string(),
    /** When the workspace's API keys were freed of their expiry because the address had been verified, epoch ms. */
    reactivatedAt: z.number().optional(),
  }),
  pk: (of: { email: string }) => ['OWNER', of.email],
  sk: (_key: unknown) => ['WORKSPACE'],
});

/** An API key, which is the tenant: what verifying a request needs, in one small item. */
export const ApiKeyEntity = defineEntity({
  type: 'ApiKey',
  version: 1,
  scope: 'tenant',
  ownedBy: 'workspace',
  purpose: 'An API key and the hashes of its live auth tokens; read once per request',
  schema: z.object({
    apiKey: z.string(),
    workspaceId: z.string(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    /** What the operator does not offer to it; here, because every request reads this item anyway. */
    withheld: z.array(z.enum(features)).optional(),
    /** Calls per second by class, where the operator has set other limits than those of the settings. */
    limits: z.partialRecord(z.enum(limitClasses), z.number()).optional(),
    /** When it stops working unless the owner's address is verified before, epoch ms. */
    expiresAt: z.number().optional(),
    createdAt: z.number(),
  }),
  pk: (of: { apiKey: string }) => [of.apiKey],
  sk: (_key: unknown) => ['KEY'],
});

/** An API key as its workspace lists it. */
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

/** An auth token of an API key with its text, which is sealed for purpose `authToken` and this token's id. */
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
