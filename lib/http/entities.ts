import * as z from 'zod';
import { limitClasses } from '../app/rules/limits.ts';
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
