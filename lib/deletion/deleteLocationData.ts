import { deleteThreads } from '../comments/deleteThreads.ts';
import { commentReferenceRemoval } from '../comments/reactionUserRemoval.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { type LocatedRecord, type LocationRecords, readLocationRecords } from '../locations/locationRecords.ts';
import { notificationDeletionOps } from '../notifications/notifications.ts';
import { reactionDeletionOps, ReactionEntity } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import { recordingDeletionOps } from '../recordings/recordings.ts';
import { slicesOf } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { inTransactions, type Table } from '../table/table.ts';

/** How long one call runs, in milliseconds. The function times out some seconds later. */
const DELETES_FOR_MILLISECONDS = 20_000;
/** The number of threads that are deleted in parallel. A thread can have a thousand comments. */
const THREADS_AT_ONCE = 10;
const PARALLEL = 4;

export class LocationDeleter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Deletes the threads, reactions, recordings and notifications of a location in a document. If several organizations of the
   * tenant have a document with this id, deletes the records in all of them, even in disabled organizations.
   *
   * Throws UNAVAILABLE after 20 seconds. A repeated call then continues. The index of locations is eventually consistent, so
   * records that were just written can stay.
   */
  async delete(tenant: string, documentId: string, location: Location, clock: () => number = Date.now): Promise<void> {
    const key = locationKey(location);
    const deadline = clock() + DELETES_FOR_MILLISECONDS;
    /** Returns the current time, epoch ms. Throws UNAVAILABLE after the deadline of the call. */
    const requireTime = () => {
      const now = clock();
      if (now > deadline) throw new ApiError('UNAVAILABLE', 'Not everything is deleted yet. Send the request again.');
      return now;
    };
    let [after, isComplete]: [string | undefined, boolean] = [undefined, true];
    for (;;) {
      const { next, ...records } = await readLocationRecords(this.#table, { tenant, documentId, key }, after);
      const deleted = await this.#deleteRecords(records, key, requireTime);
      isComplete = isComplete && deleted;
      if (next === undefined && isComplete) return;
      requireTime();
      // After the last page, the search starts again from the first page if other requests changed records during their deletion. It
      // then finds these records again.
      isComplete = next === undefined || isComplete;
      after = next;
    }
  }

  /**
   * Deletes records. Returns false if some of them remain because of concurrent writes. Keeps records that another request moves to
   * another location in the meantime. `key` is the key of the location.
   */
  async #deleteRecords(
    { threads, reactions, recordings, notifications }: Omit<LocationRecords, 'next'>,
    key: string,
    requireTime: () => number,
  ): Promise<boolean> {
    let isComplete = true;
    const independent = [
      ...recordings.map(({ scope, record }) => ({ ops: recordingDeletionOps(scope, [record]) })),
      ...notifications.map(({ scope, record }) => ({ ops: notificationDeletionOps(scope, record) })),
    ];
    await inParallel(inTransactions(independent), PARALLEL, async (group) => {
      requireTime();
      if ((await this.#table.write(group.flatMap(({ ops }) => ops))) !== 'done') isComplete = false;
    });
    // Each deletion changes the comment, so reactions to the same comment are deleted one after the other.
    await inParallel(
      [...Map.groupBy(reactions, ({ record: { on } }) => JSON.stringify(on)).values()],
      PARALLEL,
      async (group) => {
        for (const { scope, record } of group) {
          requireTime();
          await this.#deleteReaction(scope, record, key);
        }
      },
    );
    for (const group of Map.groupBy(threads, ({ scope }) => `${scope.organizationKey} ${scope.documentKey}`).values()) {
      for (const slice of slicesOf(group, THREADS_AT_ONCE)) {
        const outcomes = await deleteThreads(
          this.#table,
          (group[0] as LocatedRecord<unknown>).scope,
          slice.map(({ record }) => record),
          requireTime(),
          { isSelected: (thread) => thread.locationKey === key },
        );
        isComplete = isComplete && !outcomes.includes('busy');
      }
    }
    return isComplete;
  }

  /** Deletes a reaction with this location, and the reference to it in its comment. */
  async #deleteReaction(
    scope: DocumentScope,
    { annotationId, createdAt, documentId }: Reaction,
    key: string,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const reaction = await this.#table.get(ReactionEntity, { ...scope, annotationId, createdAt });
      if (reaction?.locationKey !== key) return 'done';
      return this.#table.tryWrite([
        ...reactionDeletionOps(scope, documentId, [reaction]),
        ...(await commentReferenceRemoval(this.#table, scope, reaction)),
      ]);
    });
  }
}

export const deleteLocations = /* @__PURE__ */ storeCapability(
  LocationDeleter,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
  ['gsi2'],
);
