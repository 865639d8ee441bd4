import type { Capability } from '../app/capability.ts';
import { type DeletedRecords, deleteInPages, type DeletionResult } from '../content/deleteInPages.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordIdKey, type RecordPosition, releaseRecordId } from '../content/recordIds.ts';
import type { RecordPageOptions } from '../content/recordListing.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { distinct } from '../shared/collections.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { remove, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  type ActivityPosition,
  ActivityReader,
  type AnyScope,
  CHANGED_AT_ONCE,
  TARGET_PAGE,
} from './activityReader.ts';
import { ActivityEntity } from './entities.ts';
import { matchesFilter } from './rules.ts';

interface ActivitySelection {
  readonly activityIds?: readonly string[] | undefined;
  readonly targetEntityId?: string | undefined;
}

interface Deletion {
  readonly id: string;
  /** If undefined, the activity may be in any document. */
  readonly position?: Pick<RecordPosition, 'documentKey' | 'createdAt'>;
}

const DELETION_FAILED: ItemOutcome = { success: false, message: 'Failed to delete activity.' };

export class ActivityDeleter {
  readonly #table: Table;
  readonly #reader: ActivityReader;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#reader = new ActivityReader(table);
    this.#clock = clock;
  }

  /**
   * A selection has ids or a `targetEntityId`, or `scope` is a document. Without ids, starts after `after`, deletes the
   * oldest first, and stops like `deleteInPages`. An activity that is not deleted fails in its own result only.
   */
  async delete(
    scope: AnyScope,
    { activityIds, targetEntityId }: ActivitySelection,
    after?: string,
  ): Promise<DeletedRecords> {
    if (activityIds)
      return { results: await this.#deleteByIds(scope, distinct(activityIds), targetEntityId), next: undefined };
    const read = (from: string | undefined) => {
      const options = { after: from, limit: TARGET_PAGE };
      return targetEntityId === undefined
        ? this.#readDeletions(scope as DocumentScope, options)
        : this.#readTargetDeletions(scope, targetEntityId, options);
    };
    return deleteInPages(pages(read, after), (deletions) => this.#delete(scope, deletions), this.#clock);
  }

  async #deleteByIds(
    scope: AnyScope,
    ids: readonly string[],
    targetEntityId: string | undefined,
  ): Promise<DeletionResult[]> {
    if (!('documentKey' in scope) && targetEntityId === undefined)
      return this.#delete(
        scope,
        ids.map((id) => ({ id })),
      );
    return inSlices(ids, CHANGED_AT_ONCE, async (slice) => {
      const selected = (await this.#reader.find(scope, slice)).flatMap((stored) => {
        if (!stored || !matchesFilter({ targetEntityId }, stored.activity)) return [];
        if ('documentKey' in scope && stored.scope.documentKey !== scope.documentKey) return [];
        return [{ id: stored.id, position: stored.position }];
      });
      const deleted = new Map(await this.#delete(scope, selected));
      return slice.map((id): DeletionResult => [id, deleted.get(id) ?? DELETION_FAILED]);
    });
  }

  async #readDeletions(scope: DocumentScope, options: RecordPageOptions): Promise<ItemPage<Deletion>> {
    const { values, next } = await this.#table.query(ActivityEntity, scope, options);
    const { documentKey } = scope;
    return { values: values.map(({ id, createdAt }) => ({ id, position: { documentKey, createdAt } })), next };
  }

  async #readTargetDeletions(
    scope: AnyScope,
    targetEntityId: string,
    options: RecordPageOptions,
  ): Promise<ItemPage<Deletion>> {
    const { activities, next } = await this.#reader.readTarget(scope, targetEntityId, {
      ...options,
      descending: false,
    });
    const values = activities.map(({ activity: { id, createdAt }, documentKey }) => ({
      id,
      position: { documentKey, createdAt },
    }));
    return { values, next };
  }

  /** An activity with a `position` that is stored elsewhere by now fails in its own result only. */
  async #delete(scope: OrganizationScope, activities: readonly Deletion[]): Promise<DeletionResult[]> {
    const outcomes = await writeEach<Deletion, ActivityPosition | undefined, ItemOutcome>({
      table: this.#table,
      items: activities,
      read: (items) =>
        this.#reader.findPositions(
          scope,
          items.map(({ id }) => id),
        ),
      decide: ({ id, position }, stored) => {
        if (!stored) return { result: DELETION_FAILED, ops: [] };
        const { documentKey, createdAt, _r } = stored.position;
        if (position && (position.documentKey !== documentKey || position.createdAt !== createdAt))
          return { result: DELETION_FAILED, ops: [] };
        if (stored.refusal !== undefined) return { result: { success: false, message: stored.refusal }, ops: [] };
        return {
          result: { success: true, message: 'Activity deleted.' },
          ops: [
            remove(ActivityEntity, { ...stored.scope, id, createdAt }),
            releaseRecordId(scope, recordIdKey('activity', id), _r),
          ],
        };
      },
      conflicted: () => DELETION_FAILED,
    });
    return outcomes.map((outcome, index) => [activities[index]?.id ?? '', outcome]);
  }
}

export const deleteActivities: Capability<Pick<ActivityDeleter, 'delete'>> = /* @__PURE__ */ storeCapability(
  ActivityDeleter,
  ['BatchGetItem', 'Query', 'DeleteItem'],
  ['gsi1'],
);
