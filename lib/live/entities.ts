import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { organizationPartition, type OrganizationScope } from '../directory/folders/folders.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { shardOf } from '../table/queryShards.ts';
import { LOG_SECONDS } from './rules/changes.ts';

const ChannelSchema = z.object({
  documentKey: z.string(),
  /** The ids that the customer chose. Access to the document is read with them. */
  organizationId: z.string(),
  documentId: z.string(),
  /** The version of the document channel: the number of hints that the channel ever got. */
  version: z.number(),
  /** The access epoch. It grows whenever a user loses access. The names of the channels contain it. */
  epoch: z.number(),
  /**
   * The access epochs whose channels have not got `system.revoked` yet, each with the id of the stream record that ended the
   * epoch.
   */
  revoking: z.array(z.object({ epoch: z.number(), by: z.string() })).optional(),
  /** The time until which a client may be connected, epoch ms. Later changes are not recorded. */
  activeUntil: z.number(),
  /** The sequence number of the last recorded stream record, by the name of its partition. */
  marks: z.record(z.string(), z.string()),
});
export type LiveChannel = z.output<typeof ChannelSchema>;
export type StoredChannel = Stored<LiveChannel>;

/** The version and the access epoch of a document's channels. The item is created when the first user connects. */
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

const versionKey = (version: number) => String(version).padStart(16, '0');

/** Hints that were recorded together, for clients that catch up. */
export const LiveHintsEntity = defineEntity({
  type: 'LiveHints',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Hints of a document, kept for two hours for clients that catch up',
  schema: z.object({
    /** The version of the last hint in the item. */
    version: z.number(),
    /** The hints and the ids of their stream records, as JSON text. */
    hints: z.string(),
    /** Epoch seconds. */
    expiresAt: z.number(),
  }),
  pk: (of: DocumentScope) => organizationPartition(of, 'DOCUMENT', of.documentKey, 'LIVE_HINTS'),
  sk: (key: { version: number }) => [versionKey(key.version)],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** Returns the range of sort keys of hints from a version on. */
export function sinceHint(version: number): [from: string, to: string] {
  return [versionKey(version), versionKey(Number.MAX_SAFE_INTEGER)];
}

/** A hint that was sent to one user. */
export const UserHintEntity = defineEntity({
  type: 'UserHint',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: "A hint of a user's own channel, kept for two hours for clients that catch up",
  schema: z.object({
    at: z.number(),
    /** The id of the stream record that caused the hint. */
    id: z.string(),
    /** The hint, as JSON text. */
    hint: z.string(),
  }),
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'USER', of.userId, 'LIVE_HINTS'],
  sk: (key: { at: number; id: string }) => [isoTime(key.at), key.id],
  expiresAt: ({ at }) => Math.ceil(at / 1000) + LOG_SECONDS,
});

const UserSessionSchema = z.object({
  userId: z.string(),
  organizationKey: z.string(),
  documentKey: z.string(),
  /** Epoch seconds. A connection that the session allowed has ended by then. */
  expiresAt: z.number(),
});
export type UserSession = z.output<typeof UserSessionSchema>;

const SessionSchema = UserSessionSchema.extend({
  /** Whether stored grants or the access type let the user in. Otherwise only the user token did. */
  hasStoredAccess: z.boolean(),
  /** When the access ends because grants or the user token expire, epoch ms. */
  accessEndsAt: z.number().optional(),
  /** True after `accessEndsAt`, until the publisher has checked the access again. */
  hasExpired: z.boolean().optional(),
  /** When the user lost access, epoch ms. */
  endedAt: z.number().optional(),
});
export type LiveSession = z.output<typeof SessionSchema>;

/** The number of partitions of the index of sessions whose access ends. */
export const SESSION_SHARDS = 2;

/** Returns the index partition of sessions whose access ends. */
export function endingSessions(shard: number): string[] {
  return ['LIVE_SESSION_ENDS', String(shard)];
}

/** A user who connected to a document in the last day. Private hints go only to these users, and only their access is checked. */
export const DocumentSessionEntity = defineEntity({
  type: 'DocumentSession',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A user who connected to a document in the last day',
  schema: SessionSchema,
  pk: (of: DocumentScope) => organizationPartition(of, 'DOCUMENT', of.documentKey, 'LIVE_SESSIONS'),
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
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

/** A session in the partition of its user, which lists the documents that the user connected to. */
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
 * Queries the sessions of a user by the partition key. The user id is not known if it is long, because the key then contains
 * its hash.
 */
export const UserSessions = {
  partition: (PK: string) => PK,
  fromItem: UserSessionEntity.fromItem,
};

/** Returns the partition of a user's sessions. `user` is the user id as a part of keys. */
export function userSessionPartition(tenantPart: string, user: string): string {
  return `T#${tenantPart}#USER#${user}#${USER_SESSIONS}`;
}
