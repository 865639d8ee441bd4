import type { Capability } from '../app/capability.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { claimRecordId, findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { ContentNames } from '../content/rules/eventMetadata.ts';
import { DocumentReader, isMigrating } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import type { Cause } from '../events/outbox.ts';
import { distinctBy } from '../shared/collections.ts';
import { invalid, type Issue } from '../shared/errors.ts';
import { derivedId } from '../shared/ids.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, inTransactions, remove, type Table, upsert, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { ActivityReader, CHANGED_AT_ONCE, type StoredActivity } from './activityReader.ts';
import { ActivityEntity } from './entities.ts';
import {
  type ActivityChange,
  changeActivity,
  type NewActivity,
  type ServiceActivity,
  toActivity,
  toServiceActivity,
} from './rules.ts';

/**
 * For the transaction of a change of content. The caller must check `isActivityEnabled`. The id derives from the cause,
 * the action and the time, so another attempt of the call gives the same id.
 */
export function activityOps(
  scope: DocumentScope,
  { document: { documentId } }: Pick<ContentNames, 'document'>,
  { cause, ...activity }: ServiceActivity & { readonly cause: Cause },
  now: number,
): WriteOp[] {
  const { organizationKey, documentKey } = scope;
  const parts = [organizationKey, documentKey, cause.type, cause.id, cause.revision, activity.actionType];
  const id = derivedId('act', now, parts);
  return [
    insert(ActivityEntity, { ...scope, ...toServiceActivity(activity, { id, documentId, createdAt: now }) }),
    claimRecordId(scope, { ...recordIdKey('activity', id), documentId }, now, undefined),
  ];
}

export interface IdentifiedActivity extends NewActivity {
  readonly id: string;
  /** An id that the service generated is not looked up before the first write. */
  readonly generated: boolean;
}

/** As many as DynamoDB allows: with fewer transactions, fewer calls can fail halfway. */
const ADD_OPERATIONS = 100;

export class ActivityWriter {
  readonly #table: Table;
  readonly #reader: ActivityReader;

  constructor(table: Table) {
    this.#table = table;
    this.#reader = new ActivityReader(table);
  }

  /**
   * An activity whose id exists is overwritten and keeps its time, unless its document was deleted. Of an id that the
   * request has several times, the last counts.
   *
   * An activity of another document moves to this one. Throws INVALID_ARGUMENT if it must not, because activity logs
   * are `immutable` or the other document is disabled or being migrated.
   *
   * One transaction has at most 4 MB and 50 activities, fewer if some move. If a call with several fails between them,
   * a call with the same ids completes it.
   */
  async add(
    { scope, document: { documentId } }: DocumentContext,
    activities: readonly IdentifiedActivity[],
    { immutable, now }: { immutable: boolean; now: number },
  ): Promise<void> {
    const last = distinctBy(activities.toReversed(), ({ id }) => id).reverse();
    const withOwnIds = last.filter(({ generated }) => !generated);
    const earlier = await this.#findEarlier(scope, withOwnIds, activities, immutable);
    const earlierById = new Map(withOwnIds.map(({ id }, index) => [id, earlier[index]]));
    const plan = (activity: IdentifiedActivity, { position, isLive = false }: Earlier = {}) => {
      const { id, generated: _, ...sent } = activity;
      const createdAt = position && isLive ? position.createdAt : now;
      const moves = position && isLive && position.documentKey !== scope.documentKey;
      return {
        activity,
        ops: [
          upsert(ActivityEntity, { ...scope, ...toActivity(sent, { id, documentId, createdAt }) }),
          claimRecordId(scope, { ...recordIdKey('activity', id), documentId }, createdAt, position),
          ...(moves ? [remove(ActivityEntity, { ...scope, documentKey: position.documentKey, id, createdAt })] : []),
        ],
      };
    };
    for (const group of inTransactions(
      last.map((activity) => plan(activity, earlierById.get(activity.id))),
      { operations: ADD_OPERATIONS },
    )) {
      let plans = group;
      await retryOnConflict(async () => {
        if ((await this.#table.write(plans.flatMap(({ ops }) => ops))) === 'done') return 'done';
        const planned = plans.map(({ activity }) => activity);
        const current = await this.#findEarlier(scope, planned, activities, immutable);
        plans = planned.map((activity, index) => plan(activity, current[index]));
        return 'conflict';
      });
    }
  }

  /** Ids must be distinct. An activity that cannot be changed fails in its own result only. */
  async update(scope: OrganizationScope, changes: readonly ActivityChange[]): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to update activity.' };
    return inSlices(changes, CHANGED_AT_ONCE, (slice) =>
      writeEach<ActivityChange, StoredActivity | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) =>
          this.#reader.find(
            scope,
            items.map(({ id }) => id),
          ),
        decide: (change, stored) => {
          if (!stored) return { result: failed, ops: [] };
          if (stored.refusal !== undefined) return { result: { success: false, message: stored.refusal }, ops: [] };
          const activity = changeActivity(stored.activity, change);
          const { id, documentId, createdAt } = activity;
          return {
            result: { success: true, message: 'Activity updated.' },
            ops: [
              upsert(ActivityEntity, { ...stored.scope, ...activity }),
              claimRecordId(stored.scope, { ...recordIdKey('activity', id), documentId }, createdAt, stored.position),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  async #findEarlier(
    scope: DocumentScope,
    activities: readonly IdentifiedActivity[],
    all: readonly IdentifiedActivity[],
    immutable: boolean,
  ): Promise<Earlier[]> {
    if (activities.length === 0) return [];
    const { tenant, organizationKey } = scope;
    const positions = await findRecordIds(
      this.#table,
      { tenant, organizationKey },
      activities.map(({ id }) => recordIdKey('activity', id)),
    );
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      positions.flatMap((position) =>
        position && position.documentKey !== scope.documentKey ? (position.documentId ?? []) : [],
      ),
    );
    const issues: Issue[] = [];
    const earlier = positions.map((position, index): Earlier => {
      if (!position || position.documentKey === scope.documentKey) return { position, isLive: true };
      const document = documents.get(position.documentId ?? '');
      if (document?.internalId !== position.documentKey) return { position, isLive: false };
      if (immutable) issues.push(immovable(index, 'activity logs are immutable'));
      else if (document.disabled) issues.push(immovable(index, 'that document is disabled'));
      else if (isMigrating(document)) issues.push(immovable(index, 'that document is being migrated'));
      return { position, isLive: true };
    });
    const [first, ...others] = issues;
    if (first) throw invalid(first, ...others);
    return earlier;

    function immovable(index: number, reason: string): Issue {
      const requestIndex = all.findIndex(({ id }) => id === activities[index]?.id);
      return {
        path: ['activities', requestIndex, 'id'],
        code: 'in_another_document',
        message: `activities[${requestIndex}].id belongs to an activity of another document, which cannot move: ${reason}`,
      };
    }
  }
}

/** `isLive`: the document of the position still exists. */
interface Earlier {
  readonly position?: Stored<RecordPosition> | undefined;
  readonly isLive?: boolean;
}

export const addActivities: Capability<Pick<ActivityWriter, 'add'>> = /* @__PURE__ */ storeCapability(ActivityWriter, [
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);

export const updateActivities: Capability<Pick<ActivityWriter, 'update'>> = /* @__PURE__ */ storeCapability(
  ActivityWriter,
  ['BatchGetItem', 'Query', 'PutItem'],
);
