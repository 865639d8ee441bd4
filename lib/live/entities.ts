import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { organizationPartition, type OrganizationScope } from '../directory/folders/folders.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { LOG_SECONDS } from './rules/changes.ts';

const ChannelSchema = z.object({
  documentKey: z.string(),
  /** The customer's ids, to read the document's access. */
  organizationId: z.string(),
  documentId: z.string(),
  /** The number of hints that the document channel ever got. */
  version: z.number(),
  /** Grows whenever a user loses access. The names of the channels contain it. */
  epoch: z.number(),
  /** The epochs whose channels still have to get `system.revoked`, each with the stream record that caused it. */
  revoking: z.array(z.object({ epoch: z.number(), by: z.string() })).optional(),
  /** Until when somebody may listen, epoch ms. Changes after it are not recorded. */
  activeUntil: z.number(),
  /** The sequence number of the last recorded stream record, by the name of its partition. */
  marks: z.record(z.string(), z.string()),
});
export type LiveChannel = z.output<typeof ChannelSchema>;
export type StoredChannel = Stored<LiveChannel>;

/** The channels of a document: version and access epoch. It is created when the first user connects. */
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
    /** The version of the last hint. */
    version: z.number(),
    /** JSON text: hints and the ids of their stream records. */
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
    /** The id of the stream record. */
    id: z.string(),
    /** JSON text. */
    hint: z.string(),
  }),
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'USER', of.userId, 'LIVE_HINTS'],
  sk: (key: { at: number; id: string }) => [isoTime(key.at), key.id],
  expiresAt: ({ at }) => Math.ceil(at / 1000) + LOG_SECONDS,
});

const SessionSchema = z.object({
  userId: z.string(),
  /** Whether the user had access without the grants of a user token. */
  hasStoredAccess: z.boolean(),
  organizationKey: z.string(),
  documentKey: z.string(),
  /** When the user lost access, epoch ms. */
  endedAt: z.number().optional(),
  /** Epoch seconds. */
  expiresAt: z.number(),
});
export type LiveSession = z.output<typeof SessionSchema>;

/** A user who connected to a document recently. Private hints and access checks concern these users only. */
export const DocumentSessionEntity = defineEntity({
  type: 'DocumentSession',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A user who connected to a document in the last hours',
  schema: SessionSchema,
  pk: (of: DocumentScope) => organizationPartition(of, 'DOCUMENT', of.documentKey, 'LIVE_SESSIONS'),
  sk: (key: { userId: string }) => [key.userId],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const USER_SESSIONS = 'LIVE_SESSIONS';

/** The same by user: the documents that a user connected to. */
export const UserSessionEntity = defineEntity({
  type: 'UserSession',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'A document that a user connected to in the last hours',
  schema: SessionSchema,
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'USER', of.userId, USER_SESSIONS],
  sk: (key: { organizationKey: string; documentKey: string }) => [key.organizationKey, key.documentKey],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** Reads the sessions in a partition that is known by its key. The key part of a long user id is a hash. */
export const UserSessions = {
  partition: (PK: string) => PK,
  fromItem: UserSessionEntity.fromItem,
};

/** Returns the partition of a user's sessions. `user` is the user id as a part of keys. */
export function userSessionPartition(tenantPart: string, user: string): string {
  return `T#${tenantPart}#USER#${user}#${USER_SESSIONS}`;
}
