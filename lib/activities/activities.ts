import type { Capability } from '../app/capability.ts';
import { distinctBy } from '../shared/collections.ts';
import {
  Activity,
  type ActivityChange,
  type ActivityFilter,
  changeActivity,
  isOf,
  type NewActivity,
  type OwnActivity,
  type ActivityResponse,
  toActivityResponse,
  toActivity,
  toOwnActivity,
} from './rules.ts';
import type { ContentNames } from '../content/rules/names.ts';
import { invalid } from '../shared/errors.ts';
import { derivedId } from '../shared/ids.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { DocumentReader } from '../directory/documents.ts';
import { defineEntity, indexPartition, type Stored } from '../table/entity.ts';
import type { Cause } from '../events/outbox.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
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
  readRecordPage,
  givenDocuments,
  type ListingOptions,
  listAcrossDocuments,
  type ListingPage,
} from '../content/recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

const targetParts = ({ tenant, organizationKey }: OrganizationScope, targetEntityId: string) => [
  tenant,
  'ORGANIZATION',
  organizationKey,
  'TARGET',
  targetEntityId,
];

/** An activity log record (spec 4.15). What changes it is conditioned on the revision of its id, so that nobody needs to read it to replace it. */
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

const named = (id: string) => ({ kind: 'activity', id, within: '' }) as const;

/**
 * The operations that write an activity of the service's own, for the transaction of the change that it is about; whether it is to be
 * written says `activityEnabled`. The same change makes the same activity.
 */
export function activityOps(
  scope: DocumentScope,
  { document: { documentId } }: Pick<ContentNames, 'document'>,
  activity: OwnActivity & { readonly cause: Cause },
  now: number,
): WriteOp[] {
  const {
    cause: { type, id: changed, revision },
    ...own
  } = activity;
  const id = derivedId('act', now, [
    scope.organizationKey,
    scope.documentKey,
    type,
    changed,
    revision,
    activity.actionType,
  ]);
  return [
    insert(ActivityEntity, { ...scope, ...toOwnActivity(own, { id, documentId, createdAt: now }) }),
    claimRecordId(scope, { ...named(id), documentId }, now, undefined),
  ];
}

/** An activity to add, with its id. */
export interface IdentifiedActivity extends NewActivity {
  readonly id: string;
  /** Whether the id is of our making: nothing is expected under it. */
  readonly generated: boolean;
}

/** What a listing of activities is of, besides where they lie. */
export interface ActivityListing extends ActivityFilter {
  readonly descending: boolean;
  /** What they lie under, as customers know it. */
  readonly names: { readonly apiKey: string; readonly organizationId: string };
}

/** Where an activity is and whether it may be written to. */
interface Located {
  readonly id: string;
  readonly position: Stored<RecordPosition>;
  readonly scope: DocumentScope;
  readonly disabled: boolean;
}

interface Found extends Located {
  readonly activity: Activity;
}

/** How many activities are looked up through the index of targets at a time. */
const OF_TARGET_AT_ONCE = 100;
/** How many activities are read to be changed at a time: one can be 360 KB. */
const CHANGED_AT_ONCE = 30;
/** How many activities one call removes of a document or target. */
const MOST_REMOVED = 2_000;
/** What DynamoDB takes in one transaction. Additions conflict with nobody, and the fewer transactions, the fewer calls that can be cut in two. */
const ADD_OPERATIONS = 100;

export class ActivityReader {
  protected readonly table: Table;
  protected readonly documents: DocumentReader;

  constructor(table: Table) {
    this.table = table;
    this.documents = new DocumentReader(table);
  }

  /** A page of the activities of some documents, document by document, in each by time. */
  async list(
    documents: DocumentSource,
    listing: ActivityListing,
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<ActivityResponse>> {
    const { descending, names, ...filter } = listing;
    const wanted = Object.values(filter).some((value) => value !== undefined)
      ? (activity: Activity) => isOf(filter, activity)
      : undefined;
    return listAcrossDocuments({
      ...page,
      documents,
      read: ({ scope }, options) =>
        readRecordPage(
          this.table,
          ActivityEntity,
          scope,
          { ...options, descending },
          (activity) => toActivityResponse(names, activity),
          wanted,
        ),
    });
  }

  /** A page of the activities of a target entity in an organization, or in one of its documents, by time. Follows writes a moment later. */
  async listOfTarget(
    scope: OrganizationScope | DocumentScope,
    listing: ActivityListing & { targetEntityId: string },
    page: Pick<ListingOptions<unknown>, 'from' | 'limit'>,
  ): Promise<ListingPage<ActivityResponse>> {
    const { descending, names, ...filter } = listing;
    const read = async (options: RecordPageOptions): Promise<RecordPage<ActivityResponse>> => {
      const { found, next } = await this.ofTarget(scope, listing.targetEntityId, { ...options, descending });
      const wanted = found.filter(({ activity }) => isOf(filter, activity));
      const bytes = found.reduce((sum, { activity }) => sum + Buffer.byteLength(JSON.stringify(activity)), 0);
      return {
        records: wanted.map(({ activity, position }) => ({
          key: position,
          value: toActivityResponse(names, activity),
        })),
        next,
        bytes,
      };
    };
    // To the walk the target is what a document is otherwise.
    return listAcrossDocuments({
      ...page,
      documents: givenDocuments([{ documentId: '', scope: { ...scope, documentKey: '' } }]),
      read: (_target, options) => read(options),
    });
  }

  /** Those of the named activities that are there, by time. */
  async named(
    scope: OrganizationScope | DocumentScope,
    ids: readonly string[],
    { descending, names, ...filter }: ActivityListing,
  ): Promise<ActivityResponse[]> {
    const stored = (await this.stored(scope, ids)).filter((one) => one !== undefined);
    const wanted = stored.map(({ activity }) => activity).filter((activity) => isOf(filter, activity));
    const byTime = wanted.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    return (descending ? byTime.reverse() : byTime).map((activity) => toActivityResponse(names, activity));
  }

  /** Where the activities with these ids are, undefined where there are none: what a document that is gone left behind is none. */
  protected async located(
    scope: OrganizationScope | DocumentScope,
    ids: readonly string[],
  ): Promise<(Located | undefined)[]> {
    return this.#live(scope, ids, await findRecordIds(this.table, scope, ids.map(named)));
  }

  /** The same with the activities themselves. */
  protected async stored(
    scope: OrganizationScope | DocumentScope,
    ids: readonly string[],
  ): Promise<(Found | undefined)[]> {
    const { tenant, organizationKey } = scope;
    const positions = await findRecordIds(this.table, scope, ids.map(named));
    const keys = positions.flatMap((position, index) =>
      position
        ? [
            {
              tenant,
              organizationKey,
              documentKey: position.documentKey,
              id: ids[index] as string,
              createdAt: position.createdAt,
            },
          ]
        : [],
    );
    const [located, activities] = await Promise.all([
      this.#live(scope, ids, positions),
      this.table.getMany(ActivityEntity, keys),
    ]);
    const byId = new Map(activities.map((activity, index) => [keys[index]?.id, activity]));
    return located.map((one) => {
      const activity = one && byId.get(one.id);
      return activity && { ...one, activity };
    });
  }

  async #live(
    { tenant, organizationKey }: OrganizationScope,
    ids: readonly string[],
    positions: readonly (Stored<RecordPosition> | undefined)[],
  ): Promise<(Located | undefined)[]> {
    const documents = await findLiveDocuments(
      this.documents,
      { tenant, organizationKey },
      positions.flatMap((position) => position?.documentId ?? []),
    );
    return positions.map((position, index) => {
      const document = documents.get(position?.documentId ?? '');
      if (!position || document?.internalId !== position.documentKey) return undefined;
      return {
        id: ids[index] as string,
        position,
        scope: { tenant, organizationKey, documentKey: position.documentKey },
        disabled: document.disabled,
      };
    });
  }

  /** Some activities of a target entity, as the index names them: those that are there and still have that target. */
  protected async ofTarget(
    scope: OrganizationScope | DocumentScope,
    targetEntityId: string,
    options: RecordPageOptions & { descending: boolean },
  ) {
    const { tenant, organizationKey } = scope;
    const page = await this.table.queryIndex('gsi1', indexPartition('tenant', targetParts(scope, targetEntityId)), {
      ...options,
      limit: Math.min(options.limit, OF_TARGET_AT_ONCE),
    });
    const activities = await this.table.getByKeys(ActivityEntity, page.keys);
    const documents = await findLiveDocuments(
      this.documents,
      scope,
      activities.flatMap((activity) => activity?.documentId ?? []),
    );
    const found = page.keys.flatMap((key, index) => {
      const activity = activities[index];
      const document = documents.get(activity?.documentId ?? '');
      if (!activity || !document || activity.targetEntityId !== targetEntityId) return [];
      if ('documentKey' in scope && scope.documentKey !== document.internalId) return [];
      const at = { tenant, organizationKey, documentKey: document.internalId };
      return ActivityEntity.partition(at) === key.PK
        ? [{ activity, position: page.positions[index] as string, scope: at }]
        : [];
    });
    return { found, next: page.next };
  }
}

export class ActivityWriter extends ActivityReader {
  /**
   * Adds activities to a document, all of them or none. One whose id exists already is overwritten and keeps its time; of those
   * with the same id the last one counts. An activity of another document of the organization moves to this one. INVALID_ARGUMENT
   * when it may not move: `immutable` says that activity logs are immutable, and a disabled document loses nothing. What fits into one
   * transaction, 50 activities and 4 MB, is written at once; a call that is cut off between several of them is completed by a
   * repetition with the same ids.
   */
  async add(
    at: DocumentContext,
    activities: readonly IdentifiedActivity[],
    { immutable, now }: { immutable: boolean; now: number },
  ): Promise<void> {
    const {
      scope: scope,
      document: { documentId },
    } = at;
    const last = distinctBy(activities.toReversed(), ({ id }) => id).reverse();
    const chosen = last.filter(({ generated }) => !generated);
    const earlier = await this.#earlier(scope, chosen, activities, immutable);
    const known = new Map(chosen.map(({ id }, index) => [id, earlier[index]]));
    const plan = (activity: IdentifiedActivity, { position, isLive = false }: Earlier = {}) => {
      const { id, generated: _, ...sent } = activity;
      const createdAt = position && isLive ? position.createdAt : now;
      const moves = position && isLive && position.documentKey !== scope.documentKey;
      return {
        activity,
        ops: [
          upsert(ActivityEntity, { ...scope, ...toActivity(sent, { id, documentId, createdAt }) }),
          claimRecordId(scope, { ...named(id), documentId }, createdAt, position),
          ...(moves ? [remove(ActivityEntity, { ...scope, documentKey: position.documentKey, id, createdAt })] : []),
        ],
      };
    };
    for (const group of inTransactions(
      last.map((activity) => plan(activity, known.get(activity.id))),
      { operations: ADD_OPERATIONS },
    )) {
      let plans = group;
      await retryOnConflict(async () => {
        if ((await this.table.write(plans.flatMap(({ ops }) => ops))) === 'done') return 'done';
        const found = await this.#earlier(
          scope,
          plans.map(({ activity }) => activity),
          activities,
          immutable,
        );
        plans = plans.map(({ activity }, index) => plan(activity, found[index]));
        return 'conflict';
      });
    }
  }

  /** Replaces fields of activities. Ids are distinct; one that is not there fails alone. */
  async update(scope: OrganizationScope, changes: readonly ActivityChange[]): Promise<ItemOutcome[]> {
    const failed = { success: false, message: 'Failed to update activity.' };
    return inSlices(changes, (slice) =>
      writeEach<ActivityChange, Found | undefined, ItemOutcome>({
        table: this.table,
        items: slice,
        read: (items) =>
          this.stored(
            scope,
            items.map(({ id }) => id),
          ),
        decide: (change, found) => {
          if (!found || found.disabled) return { result: failed, ops: [] };
          const { scope: at, position } = found;
          const activity = changeActivity(found.activity, change);
          return {
            result: { success: true, message: 'Activity updated.' },
            ops: [
              upsert(ActivityEntity, { ...at, ...activity }),
              claimRecordId(
                at,
                { ...named(activity.id), documentId: activity.documentId },
                activity.createdAt,
                position,
              ),
            ],
          };
        },
        conflicted: () => failed,
      }),
    );
  }

  /** Removes activities by their ids; with a document or target only those of it. Ids are distinct; one that does not exist fails alone. */
  async remove(
    scope: OrganizationScope | DocumentScope,
    ids: readonly string[],
    targetEntityId?: string,
  ): Promise<Removed> {
    if (!('documentKey' in scope) && targetEntityId === undefined)
      return {
        results: await this.#remove(
          scope,
          ids.map((id) => ({ id })),
        ),
        hasMore: false,
      };
    const results = await inSlices(ids, async (slice) => {
      const found = await this.stored(scope, slice);
      const isSelected = (one: Found | undefined) =>
        one !== undefined &&
        (!('documentKey' in scope) || one.scope.documentKey === scope.documentKey) &&
        isOf({ targetEntityId }, one.activity);
      const removed = new Map(
        await this.#remove(
          scope,
          found.filter(isSelected).flatMap((one) => (one ? [{ id: one.id, at: one.position }] : [])),
        ),
      );
      return slice.map((id): OutcomeOf => [
        id,
        removed.get(id) ?? { success: false, message: 'Failed to delete activity.' },
      ]);
    });
    return { results, hasMore: false };
  }

  /** Removes the activities of a document, oldest first, up to 2,000 in one call. */
  async removeOfDocument(scope: DocumentScope): Promise<Removed> {
    const results: OutcomeOf[] = [];
    let after: string | undefined;
    do {
      const page = await this.table.query(ActivityEntity, scope, { after, limit: MOST_REMOVED - results.length });
      results.push(
        ...(await this.#remove(
          scope,
          page.values.map(({ id, createdAt }) => ({ id, at: { documentKey: scope.documentKey, createdAt } })),
        )),
      );
      after = page.next;
    } while (after !== undefined && results.length < MOST_REMOVED);
    return { results, hasMore: after !== undefined };
  }

  /** Removes the activities of a target entity, or those of them in a document, oldest first, up to 2,000 in one call; those of documents that are disabled fail. */
  async removeOfTarget(scope: OrganizationScope | DocumentScope, targetEntityId: string): Promise<Removed> {
    const results: OutcomeOf[] = [];
    let after: string | undefined;
    do {
      const page = await this.ofTarget(scope, targetEntityId, {
        after,
        limit: MOST_REMOVED - results.length,
        descending: false,
      });
      results.push(
        ...(await this.#remove(
          scope,
          page.found.map(({ activity: { id, createdAt }, scope: { documentKey } }) => ({
            id,
            at: { documentKey, createdAt },
          })),
        )),
      );
      after = page.next;
    } while (after !== undefined && results.length < MOST_REMOVED);
    return { results, hasMore: after !== undefined };
  }

  /** Removes activities, those that were found somewhere only there. */
  async #remove(scope: OrganizationScope, activities: readonly Removal[]): Promise<OutcomeOf[]> {
    const failed = { success: false, message: 'Failed to delete activity.' };
    const outcomes = await writeEach<Removal, Located | undefined, ItemOutcome>({
      table: this.table,
      items: activities,
      read: (items) =>
        this.located(
          scope,
          items.map(({ id }) => id),
        ),
      decide: ({ id, at }, located) => {
        if (!located || located.disabled) return { result: failed, ops: [] };
        const { position } = located;
        if (at && (at.documentKey !== position.documentKey || at.createdAt !== position.createdAt))
          return { result: failed, ops: [] };
        return {
          result: { success: true, message: 'Activity deleted.' },
          ops: [
            remove(ActivityEntity, { ...located.scope, id, createdAt: position.createdAt }),
            releaseRecordId(scope, named(id), position._r),
          ],
        };
      },
      conflicted: () => failed,
    });
    return activities.map(({ id }, index) => [id, outcomes[index] as ItemOutcome]);
  }

  /** Where activities to be added are already, if anywhere; INVALID_ARGUMENT when that is in another document and they may not move. */
  async #earlier(
    scope: DocumentScope,
    activities: readonly IdentifiedActivity[],
    all: readonly IdentifiedActivity[],
    immutable: boolean,
  ): Promise<Earlier[]> {
    if (activities.length === 0) return [];
    const { tenant, organizationKey } = scope;
    const positions = await findRecordIds(
      this.table,
      { tenant, organizationKey },
      activities.map(({ id }) => named(id)),
    );
    const elsewhere = positions.filter(
      (position) => position !== undefined && position.documentKey !== scope.documentKey,
    );
    const documents = await findLiveDocuments(
      this.documents,
      scope,
      elsewhere.flatMap((position) => position?.documentId ?? []),
    );
    const earlier = positions.map((position): Earlier & { readonly stays?: string } => {
      if (!position || position.documentKey === scope.documentKey) return { position, isLive: true };
      const document = documents.get(position.documentId ?? '');
      if (document?.internalId !== position.documentKey) return { position, isLive: false };
      const stays = immutable
        ? 'activity logs are immutable'
        : document.disabled
          ? 'that document is disabled'
          : undefined;
      return { position, isLive: true, ...(stays !== undefined && { stays }) };
    });
    const issues = activities.flatMap(({ id }, index) => {
      const stays = earlier[index]?.stays;
      if (stays === undefined) return [];
      const at = all.findIndex((activity) => activity.id === id);
      return [
        {
          path: ['activities', at, 'id'],
          code: 'in_another_document',
          message: `activities[${at}].id is that of an activity of another document, which cannot move: ${stays}`,
        },
      ];
    });
    const [first, ...others] = issues;
    if (first) throw invalid(first, ...others);
    return earlier;
  }
}

/** Where an activity with the same id was added before, and whether it is still there: the document may be gone. */
interface Earlier {
  readonly position?: Stored<RecordPosition> | undefined;
  readonly isLive?: boolean;
}

type OutcomeOf = readonly [id: string, outcome: ItemOutcome];

interface Removal {
  readonly id: string;
  /** Where it was found. */
  readonly at?: Pick<RecordPosition, 'documentKey' | 'createdAt'>;
}

/** What a removal removed, by id, and whether there is more to remove. */
export interface Removed {
  readonly results: readonly OutcomeOf[];
  readonly hasMore: boolean;
}

async function inSlices<T, R>(values: readonly T[], work: (slice: readonly T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < values.length; i += CHANGED_AT_ONCE)
    results.push(...(await work(values.slice(i, i + CHANGED_AT_ONCE))));
  return results;
}

export const readActivities: Capability<Pick<ActivityReader, 'list' | 'listOfTarget' | 'named'>> =
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

export const removeActivities: Capability<Pick<ActivityWriter, 'remove' | 'removeOfDocument' | 'removeOfTarget'>> =
  /* @__PURE__ */ storeCapability(ActivityWriter, ['BatchGetItem', 'Query', 'DeleteItem'], ['gsi1']);
