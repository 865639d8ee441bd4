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
  /** The ids that the customer chose. Reads of the access to the document need them. */
  organizationId: z.string(),
  documentId: z.string(),
  /**
   * The version of the document channel. It grows by one with each hint, which is a message about a change without its
   * text. All versions of an earlier document with the same id are smaller.
   */
  version: z.number(),
  /** The access epoch. It grows by one whenever a user loses access. Channel names contain it, so each epoch has other channels. */
  epoch: z.number(),
  /**
   * Earlier access epochs on whose channels `system.revoked`, the last event of a channel, is not yet published. `by`
   * is the id of the stream record that ended the epoch.
   */
  revoking: z.array(z.object({ epoch: z.number(), by: z.string() })).optional(),
  /** Until when a client may be connected, epoch ms. Changes after this time are not recorded. */
  activeUntil: z.number(),
  /** The sequence number of the last recorded stream record, by name of the table partition, such as `THREADS`. */
  marks: z.record(z.string(), z.string()),
});
export type LiveChannel = z.output<typeof ChannelSchema>;
export type StoredChannel = Stored<LiveChannel>;

/** The version and the access epoch of a document's channels. The item is created when the first user connects to the document. */
export const LiveChannelEntity = defineEntity({
  type: 'LiveChannel',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: "A document's push channels: the version and the access epoch",
  schema: ChannelSchema,
  pk: (of: OrganizationScope) => organizationPartition(of, 'LIVE_CHANNELS'),
  sk: (key: { documentKey: string }) => [key.documentKey],
});

/** Hints that were recorded together. Clients that missed these hints read this item. */
export const LiveHintsEntity = defineEntity({
  type: 'LiveHints',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Hints of a document, kept for two hours for clients that catch up',
  schema: z.object({
    /** The version of the last hint in this item. */
    version: z.number(),
    /** The hints as JSON text, each with the id of its stream record. */
    hints: z.string(),
    /** Epoch seconds. */
    expiresAt: z.number(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'LIVE_HINTS'),
  sk: (key: { version: number }) => [sortableNumber(key.version)],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** Returns the first and the last sort key of a query for the hints after a version. A query fails if the last is smaller. */
export function hintsAfter(version: number): [from: string, to: string] {
  return [sortableNumber(version + 1), sortableNumber(Number.MAX_SAFE_INTEGER + 1)];
}

/** A hint that was sent to one user only. */
export const UserHintEntity = defineEntity({
  type: 'UserHint',
  version: 2,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: "A hint of a user's own channel, kept for two hours for clients that catch up",
  schema: z.object({
    at: z.number(),
    /** The id of the stream record that led to the hint. */
    id: z.string(),
    /** The hint, as JSON text. */
    hint: z.string(),
    organizationKey: z.string().optional(),
    documentKey: z.string().optional(),
  }),
  // A user who gets the id of an erased user has another partition.
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
  /** The internal id of the user. A user who was erased and added again has another one. */
  userKey: z.string().optional(),
  /**
   * The revocation count when the user's token was issued: the number of times that all user tokens of the API key had
   * been revoked.
   */
  tokenRevocations: z.number(),
  /** Whether grants in the table or the access type of the document let the user in. If false, only the user token does. */
  hasStoredAccess: z.boolean(),
  /** When the access ends because a grant or the user token expires, epoch ms. Absent if the access has no end. */
  accessEndsAt: z.number().optional(),
  /** If only the user token lets the user in: the internal ids of the resources whose grants in the token give the access. */
  tokenResources: z.array(z.string()).optional(),
  /** True after the access has ended or all user tokens were revoked, until the publisher has checked the access again. */
  hasExpired: z.boolean().optional(),
  /** When the user lost access, epoch ms. Absent while the user has access. */
  endedAt: z.number().optional(),
});
export type LiveSession = z.output<typeof SessionSchema>;

/** The number of index partitions for sessions whose access has an end. */
export const SESSION_SHARDS = 2;

/** Returns an index partition of sessions whose access has an end. */
export function endingSessions(shard: number): string[] {
  return ['LIVE_SESSION_ENDS', String(shard)];
}

/** Returns the index partition of a tenant's open sessions. */
export function openSessions(tenant: string): string[] {
  return [tenant, 'LIVE_SESSIONS'];
}

/**
 * The session of a user who connected to a document in the last day. Private hints go only to users with a session, and
 * only their access is checked.
 */
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

/** A session in the partition of its user. The partition lists the documents to which the user connected. */
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

/**
 * Queries the sessions of a user by the text of the partition key. The caller may not know the user id, because keys
 * contain a hash of a long id.
 */
export const UserSessions = {
  partition: (PK: string) => PK,
  fromItem: UserSessionEntity.fromItem,
};

/** Returns the partition key of a user's sessions. Both parameters are parts of keys: the tenant, and the user id or its hash. */
export function userSessionPartition(tenantPart: string, user: string): string {
  return `T#${tenantPart}#USER#${user}#${USER_SESSIONS}`;
}
