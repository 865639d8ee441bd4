import type { Capability } from '../app/capability.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { findRecordIds, recordIdKey, type RecordPosition } from '../content/recordIds.ts';
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
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { refusalOf } from '../directory/requireWritable.ts';
import { jsonBytes } from '../shared/bytes.ts';
import type { Stored } from '../table/entity.ts';
import type { RecordPage } from '../table/recordPage.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { ActivityEntity, targetParts } from './entities.ts';
import { Activity, type ActivityFilter, type ActivityResponse, matchesFilter, toActivityResponse } from './rules.ts';

export interface ActivityListing extends ActivityFilter {
  readonly descending: boolean;
  readonly names: ResponseNames;
}

export type AnyScope = OrganizationScope | DocumentScope;

/** The position of an activity in an existing document. */
export interface ActivityPosition {
  readonly id: string;
  readonly position: Stored<RecordPosition>;
  readonly scope: DocumentScope;
  /** Why it cannot be changed. Undefined if it can. */
  readonly refusal: string | undefined;
}

export interface StoredActivity extends ActivityPosition {
  readonly activity: Activity;
}

/** Activities of one query by `targetEntityId`, or of one read of a deletion. */
export const TARGET_PAGE = 100;
/** Limits the memory: one activity can have 360 KB. */
export const CHANGED_AT_ONCE = 30;

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

  /** In the order of `ids`. An element is undefined if the activity does not exist or its document is deleted. */
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

  /** In the order of `ids`. An element is undefined if the activity does not exist or its document is deleted. */
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
      return { id, position, scope: { ...scope, documentKey: position.documentKey }, refusal: refusalOf(document) };
    });
  }

  /**
   * Leaves out activities of deleted documents, and activities that were deleted or got another target, which the index
   * can still name. `bytes` is the size of all that were read.
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

export const readActivities: Capability<Pick<ActivityReader, 'list' | 'listOfTarget' | 'listByIds'>> =
  /* @__PURE__ */ storeCapability(ActivityReader, ['BatchGetItem', 'Query'], ['gsi1']);
