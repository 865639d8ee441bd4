import * as z from 'zod';
import { involvedAt, type Involvement, InvolvementEntity } from '../content/involvements.ts';
import type { ContentKind } from '../content/kind.ts';
import type { DocumentRemoval, EraseHook, RemovalMode, RemoveInvolved } from '../content/userRemoval.ts';
import { DocumentEntity } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { RenamedDocumentEntity } from '../directory/renamedDocuments.ts';
import { findUsers, type MaybeUser } from '../directory/users.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { inParallel } from '../shared/inParallel.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Table } from '../table/table.ts';
import { purgeUserAccess } from './purgeUserAccess.ts';
import { purgeWaitingEntries } from './purgeWaitingEntries.ts';

const DOCUMENTS_AT_A_TIME = 8;
const USERS_AT_A_TIME = 24;
const USERS_IN_PARALLEL = 8;
const RECORDS_IN_PARALLEL = 4;
const INVOLVEMENTS_PER_PAGE = 100;

const DocumentsPosition = z.object({
  /** The last document (customer's id) in which the walk has begun. */
  listed: z.string().optional(),
  /** The internal key of the last renamed document in which the walk has begun, once all ids were listed. */
  renamed: z.string().optional(),
  /** Documents in which the walk has not ended: the index of the current hook, and its last sort key. */
  open: z.array(z.object({ documentKey: z.string(), part: z.number(), after: z.string().optional() })),
});
type DocumentsPosition = z.output<typeof DocumentsPosition>;
type Listing = Pick<DocumentsPosition, 'listed' | 'renamed'>;
type OpenDocument = DocumentsPosition['open'][number];

/** The walk reads the documents (only to erase), then the users, then each kind whose records are in one partition. */
export const WalkPosition = z.object({
  documents: z.union([DocumentsPosition, z.literal('done')]).optional(),
  user: z.number(),
  kind: z.string().optional(),
  /** The last key in the involvements of this user, or in this kind. */
  after: z.string().optional(),
});
export type WalkPosition = z.output<typeof WalkPosition>;

/** Epoch ms. Later access and content stay. */
export interface UserLimits {
  readonly access: number;
  readonly content: number;
}

export interface UserWalk {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly mode: RemovalMode;
  /** The last pass begins when requests from before the removal have ended. */
  readonly isLastPass: boolean;
  readonly userIds: readonly string[];
  /** For an erasure, the recipients (`recipientOf`) of the addresses of the users. */
  readonly recipients?: ReadonlySet<string> | undefined;
  /** The time of the request (epoch ms). Later content stays. */
  readonly at: number;
  /** The folders and documents of a removal. Undefined for the whole organization. */
  readonly within?: ReadonlySet<string> | undefined;
  readonly limitsOf: (user: MaybeUser) => UserLimits | undefined;
  readonly kinds?: readonly ContentKind[];
}

/**
 * Removes users from an organization, or from folders and documents of it. Deletes the threads that a user started, and
 * the user's recordings and reactions. Comments in threads of others keep the author's id (`remove`) or are deleted
 * (`erase`).
 *
 * Returns the position at the end of the budget. Emits no events. Idempotent: it can run twice, in parallel, or from an
 * older position. Throws ABORTED if others keep changing a record.
 */
export async function walkUsers(
  walk: UserWalk,
  from: WalkPosition,
  budget: PurgeBudget,
): Promise<WalkPosition | 'done'> {
  let position = from;
  if (walk.mode === 'erase' && position.documents !== 'done') {
    position = { ...position, documents: await eraseDocuments(walk, position.documents, budget) };
    if (position.documents !== 'done' || budget.clock() > budget.deadline) return position;
  }
  const stop = await removeFromPartitions(walk, position, budget);
  if (stop) return { ...position, ...stop };
  return removeFromOrganization(walk, position, budget);
}

/** In the last pass, each kind goes before the kinds that its records refer to. */
export function eraseHooks(isLastPass = true, kinds: readonly ContentKind[] = contentKinds): EraseHook[] {
  const hooks = kinds.flatMap(({ erase }) => (erase !== 'none' && 'erase' in erase ? [erase] : []));
  return isLastPass ? hooks.toReversed() : hooks.filter(({ isEarly }) => isEarly);
}

/**
 * Reads all records, because many name a user without an involvement: activities, subscriptions, readers, comments that
 * stayed after a removal.
 */
async function eraseDocuments(
  walk: UserWalk,
  from: DocumentsPosition | undefined,
  { clock, deadline }: PurgeBudget,
): Promise<DocumentsPosition | 'done'> {
  const { table, scope, userIds, at, isLastPass, kinds } = walk;
  const hooks = eraseHooks(isLastPass, kinds);
  const removedUsers = { userIds: new Set(userIds), removedAt: at };
  let { open, ...listing }: DocumentsPosition = from ?? { open: [] };
  for (;;) {
    if (open.length === 0) {
      const page = await nextDocuments(walk, listing);
      if (page === 'done') return 'done';
      listing = page.listing;
      open = page.documentKeys.map((documentKey) => ({ documentKey, part: 0 }));
    }
    const unfinished: OpenDocument[] = [];
    await inParallel(open, DOCUMENTS_AT_A_TIME, async (document) => {
      let position: OpenDocument | undefined = document;
      while (position && clock() <= deadline) position = await continueIn(position);
      if (position) unfinished.push(position);
    });
    open = unfinished;
    if (clock() > deadline) return { ...listing, open };
  }

  async function continueIn({ documentKey, part, after }: OpenDocument): Promise<OpenDocument | undefined> {
    const removal = { table, scope: { ...scope, documentKey }, removedUsers, mode: 'erase', clock } as const;
    const next = await hooks[part]?.erase(removal, after);
    if (next !== undefined) return { documentKey, part, after: next };
    return part + 1 < hooks.length ? { documentKey, part: part + 1 } : undefined;
  }
}

/** A document that was renamed to an earlier id meanwhile is not in the rest of the list, so these come last. */
async function nextDocuments(
  { table, scope, at }: UserWalk,
  { listed, renamed }: Listing,
): Promise<{ readonly listing: Listing; readonly documentKeys: string[] } | 'done'> {
  const limit = DOCUMENTS_AT_A_TIME;
  if (renamed === undefined) {
    const after = listed === undefined ? undefined : DocumentEntity.key({ ...scope, documentId: listed }).SK;
    const { values } = await table.query(DocumentEntity, scope, { limit, after });
    const last = values.at(-1);
    if (last) return { listing: { listed: last.documentId }, documentKeys: values.map(({ internalId }) => internalId) };
  }
  const after = renamed === undefined ? undefined : RenamedDocumentEntity.key({ ...scope, documentKey: renamed }).SK;
  const { values } = await table.query(RenamedDocumentEntity, scope, { limit, after });
  const last = values.at(-1);
  if (!last) return 'done';
  const meanwhile = values.filter(({ renamedAt }) => renamedAt >= at);
  return {
    listing: { listed, renamed: last.documentKey },
    documentKeys: meanwhile.map(({ documentKey }) => documentKey),
  };
}

async function removeFromPartitions(
  walk: UserWalk,
  { user: start, after: startAfter }: WalkPosition,
  budget: PurgeBudget,
): Promise<Pick<WalkPosition, 'user' | 'after'> | undefined> {
  const { table, scope, userIds, within, limitsOf } = walk;
  let [first, after] = [start, startAfter];
  while (first < userIds.length) {
    const batch = userIds.slice(first, first + USERS_AT_A_TIME);
    const users = await findUsers(table, scope.tenant, batch);
    const stops = new Map<number, string>();
    await inParallel(batch, USERS_IN_PARALLEL, async (userId, index) => {
      const limits = limitsOf(users[index]);
      if (!limits) return;
      await purgeUserAccess(table, { ...scope, userId }, { removedAt: limits.access, within });
      if (walk.mode === 'erase') await purgeWaitingEntries(table, { ...scope, userId }, limits.content);
      const stop = await removeFromRecords(walk, userId, limits.content, index === 0 ? after : undefined, budget);
      if (stop !== undefined) stops.set(index, stop);
    });
    // The next call repeats the users after the first unfinished one.
    const stop = Math.min(...stops.keys(), Infinity);
    if (stop < Infinity) return { user: first + stop, after: stops.get(stop) };
    first += batch.length;
    after = undefined;
    if (first < userIds.length && budget.clock() > budget.deadline) return { user: first, after: undefined };
  }
  return undefined;
}

function involvedKindsOf(kinds: readonly ContentKind[]): { kind: string; remove: RemoveInvolved }[] {
  return kinds.flatMap(({ name, remove }) => (typeof remove === 'function' ? [{ kind: name, remove }] : []));
}

/**
 * An involvement up to `removedAt` (epoch ms) goes in the transaction that changes its record. Handles the first page
 * even after the deadline, so that slow calls make progress.
 */
export async function removeFromRecords(
  { table, scope, mode, within, kinds = contentKinds }: Pick<UserWalk, 'table' | 'scope' | 'mode' | 'within' | 'kinds'>,
  userId: string,
  removedAt: number,
  after: string | undefined,
  { clock, deadline }: PurgeBudget,
): Promise<string | undefined> {
  const involved = involvedKindsOf(kinds);
  // An erasure changes the record in any case, because it reads all content.
  const isSelected = (involvement: Involvement) => mode === 'erase' || involvedAt(involvement) <= removedAt;
  const firstKind =
    after === undefined ? 0 : involved.findIndex(({ kind }) => after.startsWith(keyPrefix(['DATA', kind])));
  for (const [index, { kind, remove }] of involved.entries()) {
    if (index < firstKind) continue;
    let from = index === firstKind ? after : undefined;
    do {
      const page = await table.query(
        InvolvementEntity,
        { ...scope, userId },
        { between: keysUpTo(kind, removedAt), limit: INVOLVEMENTS_PER_PAGE, after: from },
      );
      const involvements = page.values
        .filter(({ documentKey }) => within?.has(documentKey) ?? true)
        .map((involvement): Stored<Involvement> => ({ ...involvement, userId, kind }))
        .filter(isSelected);
      // Removals in one group can change the same item.
      const groups = Map.groupBy(involvements, ({ documentKey, id }) =>
        JSON.stringify([documentKey, kind === 'reaction' ? undefined : id]),
      );
      await inParallel([...groups.values()], RECORDS_IN_PARALLEL, async (group) => {
        for (const involvement of group) await removeFromRecord(involvement, remove);
      });
      from = page.next;
      const next = involved[index + 1];
      const position = from ?? (next && keyPrefix(['DATA', next.kind]));
      if (position !== undefined && page.values.length > 0 && clock() > deadline) return position;
    } while (from !== undefined);
  }
  return undefined;

  async function removeFromRecord(involvement: Stored<Involvement>, remove: RemoveInvolved): Promise<void> {
    const { documentKey, kind } = involvement;
    const removedUsers = { userIds: new Set([userId]), removedAt };
    const removal: DocumentRemoval = { table, scope: { ...scope, documentKey }, removedUsers, mode, clock };
    let current: Stored<Involvement> | undefined = involvement;
    await retryOnConflict(async () => {
      const outcome = current && isSelected(current) ? await remove(removal, current) : 'done';
      // A request may have involved the user again, or another worker may have removed the involvement.
      if (outcome === 'conflict') {
        const read = await table.get(InvolvementEntity, { ...scope, ...involvement });
        current = read && { userId, kind, ...read };
      }
      return outcome;
    });
  }
}

function keysUpTo(kind: string, removedAt: number): [string, string] {
  return [keyPrefix(['DATA', kind]), keyAfter(['DATA', kind, isoTime(removedAt)])];
}

async function removeFromOrganization(
  { table, scope, mode, isLastPass, userIds, recipients, at, within, kinds = contentKinds }: UserWalk,
  position: WalkPosition,
  budget: PurgeBudget,
): Promise<WalkPosition | 'done'> {
  const hooks = kinds.flatMap(({ name, [mode]: hook }) =>
    typeof hook === 'object' && 'removeUsers' in hook && (isLastPass || (mode === 'erase' && hook.isEarly))
      ? [{ name, hook }]
      : [],
  );
  const removed = { userIds: new Set(userIds), recipients, removedAt: at, documents: within };
  const first = Math.max(
    hooks.findIndex(({ name }) => name === position.kind),
    0,
  );
  let after = position.kind === undefined ? undefined : position.after;
  for (const { name, hook } of hooks.slice(first)) {
    const stop = await hook.removeUsers(table, scope, removed, after, budget);
    if (stop !== 'done') return { ...position, user: userIds.length, kind: name, after: stop.after };
    after = undefined;
  }
  return 'done';
}
