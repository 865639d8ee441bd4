import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import { upsert, type WriteOp } from '../table/table.ts';
import { type OrganizationScope, organizationPartition } from './folders/folders.ts';

/** How long a removal is kept, in seconds: the 48 hours of a user token, and an hour because clocks differ. */
const LIFETIME_SECONDS = 49 * 60 * 60;

/**
 * The record that a user lost access to an organization, folder or document. Grants in user tokens that were issued before do
 * not count. Stored grants do not need this record, because they are removed.
 */
export const AccessRemovalEntity = defineEntity({
  type: 'AccessRemoval',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'That a user lost access, for as long as an older user token can grant it',
  schema: z.object({
    /** The internal id of the organization, folder or document. */
    internalId: z.string(),
    /** Epoch ms. */
    removedAt: z.number(),
    /** Whether the user was removed from the resource and everything in it. False if only the grant on the resource was removed. */
    isRevocation: z.boolean(),
    /** Whether the resource is a folder. */
    folder: z.boolean().optional(),
  }),
  pk: (of: { tenant: string; organizationKey: string; userId: string }) => organizationPartition(of, 'USER', of.userId),
  // The sort keys follow those of grants, so one query reads both.
  sk: (key: { internalId: string; isRevocation: boolean }) => [
    'GRANT_REMOVED',
    key.isRevocation ? 'user' : 'grant',
    key.internalId,
  ],
  expiresAt: ({ removedAt }) => Math.floor(removedAt / 1000) + LIFETIME_SECONDS,
});

/** Returns the operation that records a removal. The last removal of a user from a resource counts. */
export function recordRemoval(
  scope: OrganizationScope,
  userId: string,
  removal: {
    readonly internalId: string;
    readonly removedAt: number;
    readonly isRevocation: boolean;
    readonly folder?: boolean | undefined;
  },
): WriteOp {
  return upsert(AccessRemovalEntity, { ...scope, userId, ...removal });
}
