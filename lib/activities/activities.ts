import type { Capability } from '../app/capability.ts';
import { distinctBy } from '../shared/collections.ts';
import {
  Activity,
  type ActivityChange,
  type ActivityFilter,
  changeActivity,
  matchesFilter,
  type NewActivity,
  type ServiceActivity,
  type ActivityResponse,
  toActivityResponse,
  toActivity,
  toServiceActivity,
} from './rules.ts';
import type { ContentNames } from '../content/rules/names.ts';
import { invalid, type Issue } from '../shared/errors.ts';
import { derivedId } from '../shared/ids.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { DocumentReader } from '../directory/documents.ts';
import { defineEntity, indexPartition, type Stored } from '../table/entity.ts';
import type { Cause } from '../events/outbox.ts';
import { type OrganizationScope, organizationPartition } from '../directory/folders/folders.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, inTransactions, remove, type Table, upsert, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { recordSortKey, recordPartition } from '../content/involvements.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, claimRecordId, type RecordPosition, releaseRecordId } from '../content/recordIds.ts';
import {
  type DocumentSource,
  findLiveDocuments,
  type RecordPage,
  type RecordPageOptions,
  givenDocuments,
  type ListingOptions,
  listAcrossDocuments,
  listRecords,
  type ListingPage,
} from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { pages } from '../table/pages.ts';

const targetParts = (scope: OrganizationScope, targetEntityId: string) =>
  organizationPartition(scope, 'TARGET', targetEntityId);

/**
 * An activity log record. Every write of it is conditional on the revision of its id, so it can be replaced without
 * being read.
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

const recordName = (id: string) => ({ kind: 'activity', id, within: '' }) as const;

/**
 * Returns the operations that add an activity about a change of content, for the transaction of that change. The
 * caller checks `isActivityEnabled`. The same change gets the same activity id.
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
    claimRecordId(scope, { ...recordName(id), documentId }, now, undefined),
  ];
}

/** An activity to add, with its id. */
export interface IdentifiedActivity extends NewActivity {
  readonly id: string;
  /** Whether the service generated the id. Then no stored activity can have it. */
  readonly generated: boolean;
}

/** The filter of a listing of activities, and its order. */
export interface ActivityListing extends ActivityFilter {
  readonly descending: boolean;
  readonly names: { readonly apiKey: string; readonly organizationId: string };
}

type AnyScope = OrganizationScope | DocumentScope;

/** The position of an activity in a document that exists. */
interface ActivityPosition {
  readonly id: string;
  readonly position: Stored<RecordPosition>;
  readonly scope: DocumentScope;
  /** Whether the document is disabled. */
  readonly disabled: boolean;
}

interface FoundActivity extends ActivityPosition {
  readonly activity: Activity;
}

/** Activities that are read through the index of target entities at a time. */
const TARGET_PAGE = 100;
/** Activities that are read at a time to be changed: one can have 360 KB. */
const CHANGED_AT_ONCE = 30;
/** The most activities of a document or target entity that one call deletes. */
const MOST_DELETED = 2_000;
/** The limit of DynamoDB for one transaction. Fewer transactions mean fewer calls that a crash can leave half done. */
const ADD_OPERATIONS = 100;

export class ActivityReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns a page of the activities of some documents, document by document, in each by time. */
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

  /**
   * Returns a page of the activities of a target entity in an organization or document, by time. The index is
   * eventually consistent.
   */
  async listOfTarget(
    scope: AnyScope,
    { descending, names, ...filter }: ActivityListing & { targetEntityId: string },
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<ActivityResponse>> {
    const read = async (options: RecordPageOptions): Promise<RecordPage<ActivityResponse>> => {
      const { found, next } = await this.readTarget(scope, filter.targetEntityId, { ...options, descending });
      const records = found.filter(({ activity }) => matchesFilter(filter, activity));
      return {
        records: records.map(({ activity, indexPosition }) => ({
          key: indexPosition,
          value: toActivityResponse(names, activity),
        })),
        next,
        bytes: found.reduce((sum, { activity }) => sum + Buffer.byteLength(JSON.stringify(activity)), 0),
      };
    };
    // The listing treats the target entity as its only document.
    return listAcrossDocuments({
      ...page,
      documents: givenDocuments([{ documentId: '', scope: { ...scope, documentKey: '' } }]),
      read: (_target, options) => read(options),
    });
  }

  /** Returns the activities with these ids that exist and match the filter, by time. */
  async listByIds(
    scope: AnyScope,
    ids: readonly string[],
    { descending, names, ...filter }: ActivityListing,
  ): Promise<ActivityResponse[]> {
    const activities = (await this.find(scope, ids))
      .flatMap((found) => found?.activity ?? [])
      .filter((activity) => matchesFilter(filter, activity))
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    if (descending) activities.reverse();
    return activities.map((activity) => toActivityResponse(names, activity));
  }

  /**
   * Returns the positions of activities; undefined for an id without an activity. An id that a deleted document left
   * behind has none.
   */
  async findPositions(scope: AnyScope, ids: readonly string[]): Promise<(ActivityPosition | undefined)[]> {
    return this.#inLiveDocuments(scope, ids, await findRecordIds(this.#table, scope, ids.map(recordName)));
  }

  /** Returns the activities with these ids; undefined for an id without an activity. */
  async find(scope: AnyScope, ids: readonly string[]): Promise<(FoundActivity | undefined)[]> {
    const { tenant, organizationKey } = scope;
    const positions = await findRecordIds(this.#table, scope, ids.map(recordName));
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
    return located.map((one) => {
      const activity = one && byId.get(one.id);
      return activity && { ...one, activity };
    });
  }

  async #inLiveDocuments(
    { tenant, organizationKey }: OrganizationScope,
    ids: readonly string[],
    positions: readonly (Stored<RecordPosition> | undefined)[],
  ): Promise<(ActivityPosition | undefined)[]> {
    const scope = { tenant, organizationKey };
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
   * Returns a page of the activities of a target entity. The index may name activities that were deleted or have
   * another target by now; they are left out.
   */
  async readTarget(
    scope: AnyScope,
    targetEntityId: string,
    options: RecordPageOptions & { descending: boolean },
  ): Promise<{
    readonly found: readonly { activity: Activity; indexPosition: string; documentKey: string }[];
    readonly next: string | undefined;
  }> {
    const { tenant, organizationKey } = scope;
    const page = await this.#table.queryIndex('gsi1', indexPartition('tenant', targetParts(scope, targetEntityId)), {
      ...options,
      limit: Math.min(options.limit, TARGET_PAGE),
    });
    const activities = await this.#table.getByKeys(ActivityEntity, page.keys);
    const documents = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      activities.flatMap((activity) => activity?.documentId ?? []),
    );
    const found = page.positions.flatMap((indexPosition, index) => {
      const activity = activities[index];
      const document = documents.get(activity?.documentId ?? '');
      if (!activity || !document || activity.targetEntityId !== targetEntityId) return [];
      const documentKey = document.internalId;
      if ('documentKey' in scope && scope.documentKey !== documentKey) return [];
      const isThere = ActivityEntity.partition({ tenant, organizationKey, documentKey }) === page.keys[index]?.PK;
      return isThere ? [{ activity, indexPosition, documentKey }] : [];
    });
    return { found, next: page.next };
  }
}

export class ActivityWriter {
  readonly #table: Table;
  readonly #reader: ActivityReader;

  constructor(table: Table) {
    this.#table = table;
    this.#reader = new ActivityReader(table);
  }

  /**
   * Adds activities to a document, all of them or none. An existing id is overwritten and keeps its time; of a
   * repeated id the last activity counts. An activity of another document of the organization moves to this one. Throws
   * INVALID_ARGUMENT when it may not move, because activity logs are `immutable` or its document is disabled.
   *
   * 50 activities with at most 4 MB are one transaction. A call that fails between several transactions is completed by
   * a call with the same ids.
   */
  async add(
    { scope, document: { documentId } }: DocumentContext,
    activities: readonly IdentifiedActivity[],
    { immutable, now }: { immutable: boolean; now: number },
  ): Promise<void> {
    const last = distinctBy(activities.toReversed(), ({ id }) => id).reverse();
    const chosen = last.filter(({ generated }) => !generated);
    const earlier = await this.#findEarlier(scope, chosen, activities, immutable);
    const earlierById = new Map(chosen.map(({ id }, index) => [id, earlier[index]]));
    const plan = (activity: IdentifiedActivity, { position, isLive = false }: Earlier = {}) => {
      const { id, generated: _, ...sent } = activity;
      const createdAt = position && isLive ? position.createdAt : now;
      const moves = position && isLive && position.documentKey !== scope.documentKey;
      return {
        activity,
        ops: [
          upsert(ActivityEntity, { ...scope, ...toActivity(sent, { id, documentId, createdAt }) }),
          claimRecordId(scope, { ...recordName(id), documentId }, createdAt, position),
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

  /** Replaces fields of activities. Ids are distinct. An id without an activity fails alone. */
  async update(scope: OrganizationScope, changes: readonly ActivityChange[]): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to update activity.' };
    return inSlices(changes, CHANGED_AT_ONCE, (slice) =>
      writeEach<ActivityChange, FoundActivity | undefined, ItemOutcome>({
        table: this.#table,
        items: slice,
        read: (items) =>
          this.#reader.find(
            scope,
            items.map(({ id }) => id),
          ),
        decide: (change, found) => {
          if (!found || found.disabled) return { result: failed, ops: [] };
          const activity = changeActivity(found.activity, change);
          const { id, documentId, createdAt } = activity;
          return {
            result: { success: true, message: 'Activity updated.' },
            ops: [
              upsert(ActivityEntity, { ...found.scope, ...activity }),
              claimRecordId(found.scope, { ...recordName(id), documentId }, createdAt, found.position),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  /**
   * Deletes activities by id, those of a document or target entity only when one is given. Ids are distinct. Other ids
   * fail alone.
   */
  async delete(scope: AnyScope, ids: readonly string[], targetEntityId?: string): Promise<DeletedActivities> {
    if (!('documentKey' in scope) && targetEntityId === undefined) {
      const results = await this.#delete(
        scope,
        ids.map((id) => ({ id })),
      );
      return { results, hasMore: false };
    }
    const results = await inSlices(ids, CHANGED_AT_ONCE, async (slice) => {
      const selected = (await this.#reader.find(scope, slice)).flatMap((found) => {
        if (!found || !matchesFilter({ targetEntityId }, found.activity)) return [];
        if ('documentKey' in scope && found.scope.documentKey !== scope.documentKey) return [];
        return [{ id: found.id, at: found.position }];
      });
      const deleted = new Map(await this.#delete(scope, selected));
      return slice.map((id): ActivityResult => [id, deleted.get(id) ?? DELETION_FAILED]);
    });
    return { results, hasMore: false };
  }

  /** Deletes the activities of a document, oldest first, at most 2,000 in one call. */
  async deleteOfDocument(scope: DocumentScope): Promise<DeletedActivities> {
    return this.#deletePages(scope, async (options) => {
      const page = await this.#table.query(ActivityEntity, scope, options);
      const { documentKey } = scope;
      return {
        found: page.values.map(({ id, createdAt }) => ({ id, at: { documentKey, createdAt } })),
        next: page.next,
      };
    });
  }

  /**
   * Deletes the activities of a target entity in an organization or document, oldest first, at most 2,000 in one call.
   * Those of disabled documents fail.
   */
  async deleteOfTarget(scope: AnyScope, targetEntityId: string): Promise<DeletedActivities> {
    return this.#deletePages(scope, async (options) => {
      const page = await this.#reader.readTarget(scope, targetEntityId, { ...options, descending: false });
      return {
        found: page.found.map(({ activity: { id, createdAt }, documentKey }) => ({
          id,
          at: { documentKey, createdAt },
        })),
        next: page.next,
      };
    });
  }

  async #deletePages(
    scope: OrganizationScope,
    read: (options: RecordPageOptions) => Promise<{ found: readonly Deletion[]; next: string | undefined }>,
  ): Promise<DeletedActivities> {
    const results: ActivityResult[] = [];
    for await (const { found, next } of pages((after) => read({ after, limit: MOST_DELETED - results.length }))) {
      results.push(...(await this.#delete(scope, found)));
      if (results.length >= MOST_DELETED) return { results, hasMore: next !== undefined };
    }
    return { results, hasMore: false };
  }

  /** Deletes activities. One with a position fails when it is somewhere else by now. */
  async #delete(scope: OrganizationScope, activities: readonly Deletion[]): Promise<ActivityResult[]> {
    const outcomes = await writeEach<Deletion, ActivityPosition | undefined, ItemOutcome>({
      table: this.#table,
      items: activities,
      read: (items) =>
        this.#reader.findPositions(
          scope,
          items.map(({ id }) => id),
        ),
      decide: ({ id, at }, found) => {
        if (!found || found.disabled) return { result: DELETION_FAILED, ops: [] };
        const { documentKey, createdAt, _r } = found.position;
        if (at && (at.documentKey !== documentKey || at.createdAt !== createdAt))
          return { result: DELETION_FAILED, ops: [] };
        return {
          result: { success: true, message: 'Activity deleted.' },
          ops: [remove(ActivityEntity, { ...found.scope, id, createdAt }), releaseRecordId(scope, recordName(id), _r)],
        };
      },
      conflicted: () => DELETION_FAILED,
    });
    return outcomes.map((outcome, index) => [activities[index]?.id ?? '', outcome]);
  }

  /**
   * Returns the earlier positions of activities to add. Throws INVALID_ARGUMENT for those in another document that may
   * not move.
   */
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
      activities.map(({ id }) => recordName(id)),
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

    function immovable(index: number, why: string): Issue {
      const at = all.findIndex(({ id }) => id === activities[index]?.id);
      return {
        path: ['activities', at, 'id'],
        code: 'in_another_document',
        message: `activities[${at}].id belongs to an activity of another document, which cannot move: ${why}`,
      };
    }
  }
}

/** The earlier position of an activity with the same id, and whether the document of that position exists. */
interface Earlier {
  readonly position?: Stored<RecordPosition> | undefined;
  readonly isLive?: boolean;
}

type ActivityResult = readonly [id: string, outcome: ItemOutcome];

interface Deletion {
  readonly id: string;
  readonly at?: Pick<RecordPosition, 'documentKey' | 'createdAt'>;
}

const DELETION_FAILED: ItemOutcome = { success: false, message: 'Failed to delete activity.' };

/** The results of a deletion by id, and whether there are more activities to delete. */
export interface DeletedActivities {
  readonly results: readonly ActivityResult[];
  readonly hasMore: boolean;
}

export const readActivities: Capability<Pick<ActivityReader, 'list' | 'listOfTarget' | 'listByIds'>> =
  /* @__PURE__ */ storeCapability(ActivityReader, ['BatchGetItem', 'Query'], ['gsi1']);

export const addActivities: Capability<Pick<ActivityWriter, 'add'>> = /* @__PURE__ */ storeCapability(ActivityWriter, [
  'BatchGetItem',
  'PutItem',
  'DeleteItem',
]);

export const updateActivities: Capability<Pick<ActivityWriter, 'update'>> = /* @__PURE__ */ storeCapability(
  ActivityWriter,
  ['BatchGetItem', 'PutItem'],
);

export const deleteActivities: Capability<Pick<ActivityWriter, 'delete' | 'deleteOfDocument' | 'deleteOfTarget'>> =
  /* @__PURE__ */ storeCapability(ActivityWriter, ['BatchGetItem', 'Query', 'DeleteItem'], ['gsi1']);
