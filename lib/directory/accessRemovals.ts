import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readAll } from '../table/pages.ts';
import { type Table, upsert, type WriteOp } from '../table/table.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';

/** A user token is valid for 48 hours. One hour is added because clocks differ. */
const LIFETIME_SECONDS = 49 * 60 * 60;
const ID_BYTES = 6;
const PAGE = 1_000;

const Schema = z.object({
  id: z.string().optional(),
  internalId: z.string(),
  /** Epoch ms, before the write. */
  removedAt: z.number(),
  /** True for the resource and everything in it, false for the grant on it. */
  isRevocation: z.boolean(),
  folder: z.boolean().optional(),
});

/** Makes grants on the resource in earlier user tokens invalid. */
export const AccessRemovalEntity = defineEntity({
  type: 'AccessRemoval',
  version: 2,
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

export type AccessRemoval = z.output<typeof Schema>;

/**
 * Write the operation at once, because it contains the current time. Replaces an earlier record of the same user,
 * resource and `isRevocation`.
 */
export function recordRemoval(
  scope: OrganizationScope,
  userId: string,
  removal: Readonly<Omit<AccessRemoval, 'id' | 'removedAt'>>,
): WriteOp {
  const id = randomBytes(ID_BYTES).toString('base64url');
  return upsert(AccessRemovalEntity, { ...scope, userId, id, removedAt: Date.now(), ...removal });
}

export async function readRemovals(
  table: Table,
  scope: OrganizationScope,
  userId: string,
): Promise<Stored<AccessRemoval>[]> {
  return readAll((after) =>
    table.query(AccessRemovalEntity, { ...scope, userId }, { prefix: ['GRANT_REMOVED'], limit: PAGE, after }),
  );
}
