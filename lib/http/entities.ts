import * as z from 'zod';
import { limitClasses } from '../app/rules/limits.ts';
import { features } from '../shared/features.ts';
import { defineEntity } from '../table/entity.ts';

const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** One owner. Each of its API keys is a tenant. */
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
    /** When the owner's e-mail address was verified, epoch ms. */
    verifiedAt: z.number().optional(),
    /**
     * How long API keys work without a verified address, in milliseconds from the creation. Can only shorten the
     * operator's `unverifiedGraceDays`.
     */
    verifyWithinMs: z.number().optional(),
    tokenHashes: z.array(Bytes),
    pageKey: Bytes,
    createdAt: z.number(),
  }),
  pk: (of: { workspaceId: string }) => [of.workspaceId],
  sk: (_key: unknown) => ['WORKSPACE'],
});

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
    /** Ed25519, 32 bytes, for user tokens. The newest is last. */
    userTokenKeys: z.array(z.object({ keyId: z.string(), publicKey: Bytes })).optional(),
    /** How often all user tokens were revoked. The key that signs user tokens derives from this number. */
    userTokenRevocations: z.number().optional(),
    withheld: z.array(z.enum(features)).optional(),
    /** Calls per second. */
    limits: z.partialRecord(z.enum(limitClasses), z.number()).optional(),
    /** Epoch ms. Absent if it does not expire. */
    expiresAt: z.number().optional(),
    createdAt: z.number(),
  }),
  pk: (of: { apiKey: string }) => [of.apiKey],
  sk: (_key: unknown) => ['KEY'],
});
