import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import { upsert, type WriteOp } from '../table/table.ts';
import { organizationPartition, type OrganizationScope } from './folders/folders.ts';

/** How long a record is kept, in seconds. A user token is valid for 48 hours. One hour is added because clocks differ. */
const LIFETIME_SECONDS = 49 * 60 * 60;

const Schema = z.object({
  /** The internal id of the organization, folder or document that the user lost access to. */
  internalId: z.string(),
  /** The time of the removal in epoch ms. */
  removedAt: z.number(),
  /**
   * True if the user was removed from the resource and everything in it. False if only the user's grant on the resource was
   * removed.
   */
  isRevocation: z.boolean(),
  /** True if `internalId` is the id of a folder. */
  folder: z.boolean().optional(),
});

/**
 * The record that a user lost access to an organization, folder or document. User tokens from before that time still contain the
 * user's grants. This record makes those grants invalid.
 */
export const AccessRemovalEntity = defineEntity({
  type: 'AccessRemoval',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The record that a user lost access, kept until all older user tokens have expired',
  schema: Schema,
  pk: (of: { tenant: string; organizationKey: string; userId: string }) => organizationPartition(of, 'USER', of.userId),
  // Removals sort directly after grants, so one query reads both.
  sk: (key: { internalId: string; isRevocation: boolean }) => [
    'GRANT_REMOVED',
    key.isRevocation ? 'user' : 'grant',
    key.internalId,
  ],
  expiresAt: ({ removedAt }) => Math.floor(removedAt / 1000) + LIFETIME_SECONDS,
});

/**
 * Returns the operation that records a removal. It replaces an earlier record of the same user, resource and kind
 * (`isRevocation`).
 */
export function recordRemoval(
  scope: OrganizationScope,
  userId: string,
  removal: Readonly<z.output<typeof Schema>>,
): WriteOp {
  return upsert(AccessRemovalEntity, { ...scope, userId, ...removal });
}
