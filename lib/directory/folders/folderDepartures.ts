import * as z from 'zod';
import { type Departure, type Sides, sideOf } from '../rules/access.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { defineEntity } from '../../table/entity.ts';
import type { OrganizationScope } from './folders.ts';
import { insert, type Table, type WriteOp } from '../../table/table.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
/** Removals of users from folders whose boundaries one request can cross: its moves and what is written of them fit one transaction. */
const MOST_CROSSED = 10;
const READ_AT_A_TIME = 1_000;

/**
 * That a job removes users from a folder, and what was moved into that or out of it since: written with the job, and with each move, and gone with the
 * job. What a user was given on something counts by where that lay when the user left.
 */
export const FolderDepartureEntity = defineEntity({
  type: 'FolderDeparture',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A folder that users are being removed from, and what was moved into it or out of it since',
  schema: z.object({
    jobId: z.string(),
    /** Internal id. */
    folderKey: z.string(),
    /** The job itself, or the move that this is about. */
    id: z.string(),
    /** The internal ids of what was moved: of what lay in the folder when the users left, and of what did not. */
    inside: z.array(z.string()),
    outside: z.array(z.string()),
    /** Epoch ms. */
    at: z.number(),
  }),
  pk: (of: { tenant: string; organizationKey: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'FOLDER_DEPARTURES',
  ],
  sk: (key: { jobId: string; id: string }) => [key.jobId, key.id],
  // A move that met the end of the job leaves one behind.
  expiresAt: ({ at }) => Math.floor(at / 1000) + LIFETIME_SECONDS,
});

/** A folder that users are being removed from. */
export interface LeftFolder {
  /** Internal id. */
  readonly resource: string;
  readonly sides: Sides;
}

/** The folders of an organization that users are being removed from, by the jobs. Ask after the folders were read: what was moved meanwhile is known then. */
export async function leftFolders(table: Table, scope: OrganizationScope): Promise<ReadonlyMap<string, LeftFolder>> {
  const found = new Map<string, { readonly resource: string; readonly sides: Map<string, boolean> }>();
  let after: string | undefined;
  do {
    const { values, next } = await table.query(FolderDepartureEntity, scope, { limit: READ_AT_A_TIME, after });
    for (const { jobId, folderKey, inside, outside } of values) {
      const { sides } = found.get(jobId) ?? found.set(jobId, { resource: folderKey, sides: new Map() }).get(jobId)!;
      for (const internalId of inside) sides.set(internalId, true);
      for (const internalId of outside) sides.set(internalId, false);
    }
    after = next;
  } while (after !== undefined);
  return found;
}

/**
 * The departures of some users, with what was moved since where they left folders; read after the folders that they are compared with. Reads
 * nothing unless one of them is leaving a folder of the organization.
 */
export async function departuresOf(
  table: Table,
  scope: OrganizationScope,
  users: readonly ({ readonly departures?: readonly Departure[] | undefined } | undefined)[],
): Promise<(readonly Departure[] | undefined)[]> {
  const all = users.map((user) => user?.departures);
  const leaves = ({ folder, organizationKey }: Departure) =>
    folder === true && organizationKey === scope.organizationKey;
  if (!scope.leavingFolders || !all.some((departures) => departures?.some(leaves))) return all;
  const left = await leftFolders(table, scope);
  return all.map((departures) =>
    departures?.map((departure) =>
      leaves(departure) ? { ...departure, sides: left.get(departure.jobId)?.sides } : departure,
    ),
  );
}

/** Something that is moved, by internal ids; the folders that it lies in before and after, from the nearest up. */
export interface Moved {
  readonly internalId: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/**
 * The operations that write down, with a move, what was moved into folders that users are being removed from, or out of them. Reads these folders
 * where there are any. ABORTED when they are too many.
 */
export async function crossings(
  table: Table,
  scope: OrganizationScope,
  moved: readonly Moved[],
  now: number,
): Promise<WriteOp[]> {
  if (!scope.leavingFolders || moved.length === 0) return [];
  const id = newId('mov', now);
  const ops = [...(await leftFolders(table, scope))].flatMap(([jobId, left]) => {
    const sides = moved.map(({ internalId, from, to }) => [internalId, sideOf(left, internalId, from, to)] as const);
    const [inside, outside] = [true, false].map((side) =>
      sides.flatMap(([internalId, is]) => (is === side ? [internalId] : [])),
    ) as [string[], string[]];
    return inside.length + outside.length === 0
      ? []
      : [insert(FolderDepartureEntity, { ...scope, jobId, folderKey: left.resource, id, inside, outside, at: now })];
  });
  if (ops.length > MOST_CROSSED)
    throw new ApiError(
      'ABORTED',
      'Users are being removed from many of these folders. Send the request again in a minute.',
    );
  return ops;
}

/** The operation that begins to write down, with a job that removes users from a folder. */
export function leaveFolder(scope: OrganizationScope, jobId: string, folder: string, now: number): WriteOp {
  return insert(FolderDepartureEntity, {
    ...scope,
    jobId,
    folderKey: folder,
    id: jobId,
    inside: [],
    outside: [],
    at: now,
  });
}

/** Removes what was written down for a job. */
export async function forgetFolder(table: Table, scope: OrganizationScope, jobId: string): Promise<void> {
  for (;;) {
    const { values, next } = await table.query(FolderDepartureEntity, scope, {
      limit: READ_AT_A_TIME,
      prefix: [jobId],
    });
    await table.removeKeys(values.map(({ id }) => FolderDepartureEntity.key({ ...scope, jobId, id })));
    if (next === undefined) return;
  }
}
