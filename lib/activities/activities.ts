import type { Capability } from '../app/capability.ts';
import { type DeletedRecords, deleteInPages, type DeletionResult } from '../content/deleteInPages.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { recordPartition, recordSortKey } from '../content/involvements.ts';
import {
  claimRecordId,
  findRecordIds,
  recordIdKey,
  type RecordPosition,
  releaseRecordId,
} from '../content/recordIds.ts';
import {
  type DocumentSource,
  findLiveDocuments,
  givenDocuments,
  listAcrossDocuments,
  type ListingOptions,
  type ListingPage,
  listRecords,
  type RecordPageOptions,
} from '../content/recordListing.ts';
import type { ContentNames, ResponseNames } from '../content/rules/eventMetadata.ts';
import { DocumentReader } from '../directory/documents.ts';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import type { Cause } from '../events/outbox.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { distinct, distinctBy } from '../shared/collections.ts';
import { invalid, type Issue } from '../shared/errors.ts';
import { derivedId } from '../shared/ids.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import type { RecordPage } from '../table/recordPage.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, inTransactions, remove, type Table, upsert, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  Activity,
  type ActivityChange,
  type ActivityFilter,
  type ActivityResponse,
  changeActivity,
  matchesFilter,
  type NewActivity,
  type ServiceActivity,
  toActivity,
  toActivityResponse,
  toServiceActivity,
} from './rules.ts';

const targetParts = (scope: OrganizationScope, targetEntityId: string) =>
  organizationPartition(scope, 'TARGET', targetEntityId);

export const activityIds = { kind: 'activity', uniqueIn: 'organization' } as const;

/**
 * Every write also writes the item of its id (`RecordIdEntity`), with an optimistic lock. An activity can therefore be
 * replaced without being read.
 */
export const ActivityEntity = defineEntity({
  type: 'Activity',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'An activity log record of a document',
  schema: Activity,
  pk: (of: DocumentScope) => recordPartition(of, 'ACTIVITIES'),
  sk: (key: { createdAt: number; id: string }) => recordSortKey(key.createdAt, key.id),
  indexes: {
    gsi1: {
      holds: 'activities of a target entity, by time',
      pk: ({ tenant, organizationKey, targetEntityId }) =>
        targetEntityId === undefined ? undefined : targetParts({ tenant, organizationKey }, targetEntityId),
      sk: ({ createdAt, id }) => recordSortKey(createdAt, id),
    },
  },
});

/**
 * For the transaction of a change of content. The caller must check `isActivityEnabled`. The same `cause` at the same
 * time gives the same activity id.
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
  /** True if the service generated the id: no stored activity can have it. */
  readonly generated: boolean;
}

export interface ActivityListing extends ActivityFilter {
  readonly descending: boolean;
  readonly names: ResponseNames;
}

type AnyScope = OrganizationScope | DocumentScope;

/** Its document exists. */
interface ActivityPosition {
  readonly id: string;
  readonly position: Stored<RecordPosition>;
  readonly scope: DocumentScope;
  readonly disabled: boolean;
}

interface StoredActivity extends ActivityPosition {
  readonly activity: Activity;
}

/** Of one query by `targetEntityId`, and of one read of a deletion. */
const TARGET_PAGE = 100;
/** One activity can have 360 KB. */
const CHANGED_AT_ONCE = 30;
/** As many as DynamoDB allows: with fewer transactions, fewer calls can fail halfway. */
const ADD_OPERATIONS = 100;

export class ActivityReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Document by document, in each ordered by time. */
  async list(
    documents: DocumentSource,
    { descending, names, ...filter }: ActivityListing,
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<ActivityResponse>> {
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    return listRecords(this.#table, ActivityEntity, {
      ...page,
      documents,
      descending,
      toResponse: (activity) => toActivityResponse(names, activity),
      isMatch: isFiltered ? (activity) => matchesFilter(filter, activity) : undefined,
    });
  }

  /** Ordered by time, in an organization or a document. The index is eventually consistent. */
  async listOfTarget(
    scope: AnyScope,
    { descending, names, ...filter }: ActivityListing & { targetEntityId: string },
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<ActivityResponse>> {
    const read = async (options: RecordPageOptions): Promise<RecordPage<ActivityResponse>> => {
      const { activities, ...page } = await this.readTarget(scope, filter.targetEntityId, { ...options, descending });
      const records = activities.filter(({ activity }) => matchesFilter(filter, activity));
      return {
        records: records.map(({ activity, indexPosition }) => ({
          key: indexPosition,
          value: toActivityResponse(names, activity),
        })),
        ...page,
      };
    };
    // One document without an id stands for the target entity.
    return listAcrossDocuments({
      ...page,
      documents: givenDocuments([{ documentId: '', scope: { ...scope, documentKey: '' } }]),
      read: (_target, options) => read(options),
    });
  }

  /** Ordered by time. */
  async listByIds(
    scope: AnyScope,
    ids: readonly string[],
    { descending, names, ...filter }: ActivityListing,
  ): Promise<ActivityResponse[]> {
    const activities = (await this.find(scope, ids))
      .flatMap((stored) => stored?.activity ?? [])
      .filter((activity) => matchesFilter(filter, activity))
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    if (descending) activities.reverse();
    return activities.map((activity) => toActivityResponse(names, activity));
  }

  /** In the order of `ids`. Undefined if there is none, or its document is deleted. */
  async findPositions(scope: AnyScope, ids: readonly string[]): Promise<(ActivityPosition | undefined)[]> {
    return this.#inLiveDocuments(
      scope,
      ids,
      await findRecordIds(
        this.#table,
        scope,
        ids.map((id) => recordIdKey('activity', id)),
      ),
    );
  }

  /** In the order of `ids`. Undefined if there is none, or its document is deleted. */
  async find(scope: AnyScope, ids: readonly string[]): Promise<(StoredActivity | undefined)[]> {
    const { tenant, organizationKey } = scope;
    const positions = await findRecordIds(
      this.#table,
      scope,
      ids.map((id) => recordIdKey('activity', id)),
    );
    const keys = ids.flatMap((id, index) => {
      const position = positions[index];
      if (!position) return [];
      const { documentKey, createdAt } = position;
      return [{ tenant, organizationKey, documentKey, id, createdAt }];
    });
    const [located, activities] = await Promise.all([
      this.#inLiveDocuments(scope, ids, positions),
      this.#table.getMany(ActivityEntity, keys),
    ]);
    const byId = new Map(activities.map((activity, index) => [keys[index]?.id, activity]));
    return located.map((position) => {
      const activity = position && byId.get(position.id);
      return activity && { ...position, activity };
    });
  }

  async #inLiveDocuments(
    scope: OrganizationScope,
    ids: readonly string[],
    positions: readonly (Stored<RecordPosition> | undefined)[],
  ): Promise<(ActivityPosition | undefined)[]> {
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      positions.flatMap((position) => position?.documentId ?? []),
    );
    return ids.map((id, index) => {
      const position = positions[index];
      const document = documents.get(position?.documentId ?? '');
      if (!position || document?.internalId !== position.documentKey) return undefined;
      return { id, position, scope: { ...scope, documentKey: position.documentKey }, disabled: document.disabled };
    });
  }

  /**
   * The index can still name activities that were deleted or have another target by now, which are left out. `bytes` is
   * the size of all that were read.
   */
  async readTarget(
    scope: AnyScope,
    targetEntityId: string,
    options: RecordPageOptions & { descending: boolean },
  ): Promise<{
    readonly activities: readonly { activity: Activity; indexPosition: string; documentKey: string }[];
    readonly next: string | undefined;
    readonly bytes: number;
  }> {
    const { tenant, organizationKey } = scope;
    const page = await this.#table.queryIndex('gsi1', targetParts(scope, targetEntityId), {
      ...options,
      limit: Math.min(options.limit, TARGET_PAGE),
    });
    const storedActivities = await this.#table.getByKeys(ActivityEntity, page.keys);
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      storedActivities.flatMap((activity) => activity?.documentId ?? []),
    );
    const activities = page.positions.flatMap((indexPosition, index) => {
      const activity = storedActivities[index];
      const document = documents.get(activity?.documentId ?? '');
      if (!activity || !document || activity.targetEntityId !== targetEntityId) return [];
      const documentKey = document.internalId;
      if ('documentKey' in scope && scope.documentKey !== documentKey) return [];
      const isInDocument = ActivityEntity.partition({ tenant, organizationKey, documentKey }) === page.keys[index]?.PK;
      return isInDocument ? [{ activity, indexPosition, documentKey }] : [];
    });
    const bytes = storedActivities.reduce((sum, activity) => sum + (activity ? jsonBytes(activity) : 0), 0);
    return { activities, next: page.next, bytes };
  }
}

export class ActivityWriter {
  readonly #table: Table;
  readonly #reader: ActivityReader;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#reader = new ActivityReader(table);
    this.#clock = clock;
  }

  /**
   * An activity whose id exists is overwritten and keeps its time. Of an id that the request has several times, the
   * last counts.
   *
   * An activity of another document moves to this one. Throws INVALID_ARGUMENT if it must not, because activity logs
   * are `immutable` or the other document is disabled.
   *
   * Up to 50 activities with at most 4 MB are one transaction. If a call with several fails between them, a call with
   * the same ids completes it.
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

  /**
   * Ids must be distinct. An activity that does not exist, or has a disabled document, fails in its own result only.
   */
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
          if (!stored || stored.disabled) return { result: failed, ops: [] };
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
        if (!stored || stored.disabled) return { result: DELETION_FAILED, ops: [] };
        const { documentKey, createdAt, _r } = stored.position;
        if (position && (position.documentKey !== documentKey || position.createdAt !== createdAt))
          return { result: DELETION_FAILED, ops: [] };
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

  /** Throws INVALID_ARGUMENT if a stored activity with the same id is in another document and must not move. */
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

interface ActivitySelection {
  readonly activityIds?: readonly string[] | undefined;
  readonly targetEntityId?: string | undefined;
}

interface Deletion {
  readonly id: string;
  /** If undefined, the activity can be stored anywhere. */
  readonly position?: Pick<RecordPosition, 'documentKey' | 'createdAt'>;
}

const DELETION_FAILED: ItemOutcome = { success: false, message: 'Failed to delete activity.' };

export const readActivities: Capability<Pick<ActivityReader, 'list' | 'listOfTarget' | 'listByIds'>> =
  /* @__PURE__ */ storeCapability(ActivityReader, ['BatchGetItem', 'Query'], ['gsi1']);

export const addActivities: Capability<Pick<ActivityWriter, 'add'>> = /* @__PURE__ */ storeCapability(ActivityWriter, [
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);

export const updateActivities: Capability<Pick<ActivityWriter, 'update'>> = /* @__PURE__ */ storeCapability(
  ActivityWriter,
  ['BatchGetItem', 'Query', 'PutItem'],
);

export const deleteActivities: Capability<Pick<ActivityWriter, 'delete'>> = /* @__PURE__ */ storeCapability(
  ActivityWriter,
  ['BatchGetItem', 'Query', 'DeleteItem'],
  ['gsi1'],
);
