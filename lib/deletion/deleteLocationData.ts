import { type Location, locationKey } from '../content/rules/location.ts';
import type { Reaction } from '../reactions/rules.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { inTransactions, replace, type Table, itemOf } from '../table/table.ts';
import { type LocatedRecord, type LocationRecords, readLocationRecords } from '../content/locationRecords.ts';
import { notificationRemovalOps } from '../notifications/notifications.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { ReactionEntity, reactionDeletionOps } from '../reactions/reactions.ts';
import { recordingDeletionOps } from '../recordings/recordings.ts';
import { deleteThreads } from '../comments/deleteThreads.ts';
import { CommentEntity } from '../comments/threads.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How long one call runs, milliseconds. The timeout of the function is some seconds longer. */
const REMOVES_FOR_MILLISECONDS = 20_000;
/** Threads that are removed in parallel. A thread can have a thousand comments. */
const THREADS_AT_ONCE = 10;
const PARALLEL = 4;

/** Removes the data of a location. */
export class LocationRemover {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Removes the threads, reactions, recordings and notifications of a location in a document. It does so in every
   * organization of the tenant that has a document with this id, including disabled ones. Throws UNAVAILABLE after 20
   * s; the same call then continues. Finds the records through an index, so records of the last moments can stay
   * (eventual consistency).
   */
  async remove(tenant: string, documentId: string, location: Location, clock: () => number = Date.now): Promise<void> {
    const key = locationKey(location);
    const deadline = clock() + REMOVES_FOR_MILLISECONDS;
    /** Returns the time. Throws when the time of the call is over. */
    const requireTime = () => {
      const now = clock();
      if (now > deadline) throw new ApiError('UNAVAILABLE', 'Not everything is deleted yet. Send the request again.');
      return now;
    };
    let [after, isComplete]: [string | undefined, boolean] = [undefined, true];
    for (;;) {
      const { next, ...records } = await readLocationRecords(this.#table, { tenant, documentId, key }, after);
      const removed = await this.#removeRecords(records, requireTime);
      isComplete = isComplete && removed;
      if (next === undefined && isComplete) return;
      requireTime();
      // Records that conflicted are read again, from the beginning.
      isComplete = next === undefined || isComplete;
      after = next;
    }
  }

  /** Removes these records. Returns false if some conflicted with concurrent writes. */
  async #removeRecords(
    { threads, reactions, recordings, notifications }: Omit<LocationRecords, 'next'>,
    requireTime: () => number,
  ): Promise<boolean> {
    let isComplete = true;
    const alone = [
      ...recordings.map(({ scope, record }) => ({ ops: recordingDeletionOps(scope, [record]) })),
      ...notifications.map(({ scope, record }) => ({ ops: notificationRemovalOps(scope, record) })),
    ];
    await inParallel(inTransactions(alone), PARALLEL, async (group) => {
      requireTime();
      if ((await this.#table.write(group.flatMap(({ ops }) => ops))) !== 'done') isComplete = false;
    });
    // Sequential: reactions to one comment all change this comment.
    await inParallel(
      [...Map.groupBy(reactions, ({ record: { on } }) => JSON.stringify(on)).values()],
      PARALLEL,
      async (group) => {
        for (const { scope, record } of group) {
          requireTime();
          await this.#removeReaction(scope, record);
        }
      },
    );
    for (const group of Map.groupBy(threads, ({ scope }) => `${scope.organizationKey} ${scope.documentKey}`).values()) {
      for (let i = 0; i < group.length; i += THREADS_AT_ONCE) {
        const outcomes = await deleteThreads(
          this.#table,
          (group[0] as LocatedRecord<unknown>).scope,
          group.slice(i, i + THREADS_AT_ONCE).map(({ record }) => record),
          requireTime(),
        );
        isComplete = isComplete && !outcomes.includes('busy');
      }
    }
    return isComplete;
  }

  /** Removes a reaction, also from its comment. */
  async #removeReaction(scope: DocumentScope, { annotationId, createdAt, on, documentId }: Reaction): Promise<void> {
    await retryOnConflict(async () => {
      const [reaction, comment] = await this.#table.batchGet(
        itemOf(ReactionEntity, { ...scope, annotationId, createdAt }),
        itemOf(CommentEntity, {
          ...scope,
          annotationId: on?.annotationId ?? '',
          threadCreatedAt: on?.threadCreatedAt ?? 0,
          commentId: on?.commentId ?? 0,
        }),
      );
      if (!reaction) return 'done';
      const referringComment = comment?.reactions?.some(({ id }) => id === annotationId) ? comment : undefined;
      const outcome = await this.#table.write([
        ...reactionDeletionOps(scope, documentId, [reaction]),
        ...(referringComment
          ? [
              replace(
                CommentEntity,
                {
                  ...scope,
                  ...referringComment,
                  reactions: referringComment.reactions?.filter(({ id }) => id !== annotationId),
                },
                referringComment._r,
              ),
            ]
          : []),
      ]);
      return outcome === 'done' ? 'done' : 'conflict';
    });
  }
}

export const removeLocations = /* @__PURE__ */ storeCapability(
  LocationRemover,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
  ['gsi2'],
);
