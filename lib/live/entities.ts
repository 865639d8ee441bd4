import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { sortableNumber } from '../table/keys.ts';
import { shardOf } from '../table/queryShards.ts';
import { LOG_SECONDS } from './rules/changes.ts';

const ChannelSchema = z.object({
  documentKey: z.string(),
  organizationId: z.string(),
  documentId: z.string(),
  /** Grows with each hint. All versions of an earlier document with the same id are smaller. */
  version: z.number(),
  /** Grows by one when users lose access or the document gets another id. Channel names depend on it. */
  epoch: z.number(),
  /**
   * Earlier epochs whose channels lack their last event: `system.migrated` with `migratedTo`, otherwise
   * `system.revoked`. `by` is the id of the stream record that ended the epoch.
   */
  revoking: z.array(z.object({ epoch: z.number(), by: z.string(), migratedTo: z.string().optional() })).optional(),
  /** The new id of the document, until the channels of the old one have ended. Their last event is `system.migrated`. */
  migratedTo: z.string().optional(),
  /** Epoch ms. Until then, changes are recorded. */
  activeUntil: z.number(),
  /** The sequence number of the last recorded stream record, by name of the table partition, such as `THREADS`. */
  marks: z.record(z.string(), z.string()),
});
export type LiveChannel = z.output<typeof ChannelSchema>;
export type StoredChannel = Stored<LiveChannel>;

export const LiveChannelEntity = defineEntity({
  type: 'LiveChannel',
  version: 2,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: "A document's push channels: the version and the access epoch",
  schema: ChannelSchema,
  pk: (of: OrganizationScope) => organizationPartition(of, 'LIVE_CHANNELS'),
  sk: (key: { documentKey: string }) => [key.documentKey],
});

export const LiveHintsEntity = defineEntity({
  type: 'LiveHints',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Hints of a document, kept for two hours for clients that catch up',
  schema: z.object({
    version: z.number(),
    /** JSON text: the hints, each with the `position` of its change in the table's stream. */
    hints: z.string(),
    /** Epoch seconds. */
    expiresAt: z.number(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'LIVE_HINTS'),
  sk: (key: { version: number }) => [sortableNumber(key.version)],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** `to` is above every version: a query fails if its last sort key is below the first. */
export function hintsAfter(version: number): [from: string, to: string] {
  return [sortableNumber(version + 1), sortableNumber(Number.MAX_SAFE_INTEGER + 1)];
}

export const UserHintEntity = defineEntity({
  type: 'UserHint',
  version: 2,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: "A hint of a user's own channel, kept for two hours for clients that catch up",
  schema: z.object({
    at: z.number(),
    id: z.string(),
    hint: z.string(),
    organizationKey: z.string().optional(),
    documentKey: z.string().optional(),
  }),
  pk: (of: { tenant: string; userId: string; userKey: string }) => [
    of.tenant,
    'USER',
    of.userId,
    'LIVE_HINTS',
    of.userKey,
  ],
  sk: (key: { at: number; id: string }) => [isoTime(key.at), key.id],
  expiresAt: ({ at }) => Math.ceil(at / 1000) + LOG_SECONDS,
});

const UserSessionSchema = z.object({
  userId: z.string(),
  organizationKey: z.string(),
  documentKey: z.string(),
  /** Epoch seconds. All connections of the session have ended by then. */
  expiresAt: z.number(),
});
export type UserSession = z.output<typeof UserSessionSchema>;

const SessionSchema = UserSessionSchema.extend({
  userKey: z.string().optional(),
  tokenRevocations: z.number(),
  hasStoredAccess: z.boolean(),
  /** Epoch ms. Absent if the access has no end, or has ended. */
  accessEndsAt: z.number().optional(),
  tokenResources: z.array(z.string()).optional(),
  /** True until the publisher has checked the access again. */
  hasExpired: z.boolean().optional(),
  /** When the user lost access, epoch ms. */
  endedAt: z.number().optional(),
});
export type LiveSession = z.output<typeof SessionSchema>;

export const SESSION_SHARDS = 2;

export function endingSessions(shard: number): string[] {
  return ['LIVE_SESSION_ENDS', String(shard)];
}

export function openSessions(tenant: string): string[] {
  return [tenant, 'LIVE_SESSIONS'];
}

/** Private hints go only to users with a session. */
export const DocumentSessionEntity = defineEntity({
  type: 'DocumentSession',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A user who connected to a document in the last day',
  schema: SessionSchema,
  pk: (of: DocumentScope) => recordPartition(of, 'LIVE_SESSIONS'),
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi1: {
      holds: 'open sessions of a tenant',
      pk: ({ tenant, endedAt, hasExpired }) =>
        endedAt === undefined && hasExpired !== true ? openSessions(tenant) : undefined,
      sk: ({ documentKey, userId }) => [documentKey, userId],
    },
    gsi3: {
      holds: 'sessions whose access ends, by shard and time',
      pk: ({ accessEndsAt, documentKey }) =>
        accessEndsAt === undefined ? undefined : endingSessions(shardOf(documentKey, SESSION_SHARDS)),
      sk: ({ tenant, accessEndsAt = 0, documentKey, userId }) => [isoTime(accessEndsAt), tenant, documentKey, userId],
    },
  },
  expiresAt: ({ expiresAt }) => expiresAt,
});

const USER_SESSIONS = 'LIVE_SESSIONS';

export const UserSessionEntity = defineEntity({
  type: 'UserSession',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A document that a user connected to in the last day',
  schema: UserSessionSchema,
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'USER', of.userId, USER_SESSIONS],
  sk: (key: { organizationKey: string; documentKey: string }) => [key.organizationKey, key.documentKey],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** The caller may not know the user id, because keys contain a hash of a long id. */
export const UserSessions = {
  partition: (PK: string) => PK,
  fromItem: UserSessionEntity.fromItem,
};

/** Both parameters are parts of keys: the tenant, and the user id or its hash. */
export function userSessionPartition(tenantPart: string, user: string): string {
  return `T#${tenantPart}#USER#${user}#${USER_SESSIONS}`;
}
