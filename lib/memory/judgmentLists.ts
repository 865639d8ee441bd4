import { type Capability, combine } from '../app/capability.ts';
import { findLiveDocuments, readListing } from '../content/recordListing.ts';
import { DocumentReader } from '../directory/documents.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { distinct, slicesOf } from '../shared/collections.ts';
import type { Key, Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import {
  isInDocument,
  JudgmentEntity,
  type JudgmentListing,
  listingOf,
  listingRange,
  parseListingKey,
  threadListing,
} from './entities.ts';
import { ALL_TIME, type JudgmentFilters, type TimeRange } from './rules/filters.ts';
import type { Judgment } from './rules/judgments.ts';

/**
 * Which judgments are read: those of an existing document, those of an existing organization, or all of the tenant.
 * Keys are internal ids.
 */
export interface JudgmentScope extends Partial<OrganizationScope> {
  readonly tenant: string;
  readonly documentKey?: string | undefined;
}

export interface ListOptions {
  readonly filters?: JudgmentFilters | undefined;
  readonly range?: TimeRange | undefined;
  readonly oldestFirst?: boolean;
}

/** An entry of a listing: the key of a judgment and its time. */
export interface ListedJudgment {
  readonly key: Key;
  /** When the judgment was made, epoch ms. */
  readonly at: number;
}

export interface JudgmentsWithTotal {
  readonly judgments: Stored<Judgment>[];
  readonly total: number;
}

const PAGE_KEYS = 1_000;
/**
 * The number of judgments that are read at a time. It is larger than the largest `limit`, because listed judgments can
 * be deleted.
 */
const READ_JUDGMENTS = 100;

/** Lists judgments by time. The indexes that it reads are eventually consistent. */
export class JudgmentLists {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
    this.#documents = new DocumentReader(table);
  }

  /** Returns the number of judgments in a scope. */
  async count(scope: JudgmentScope): Promise<number> {
    const { index, partition } = listingOf(scope);
    return this.#table.countIndex(index, partition);
  }

  /** Returns up to `limit` matching judgments of a scope, latest first. */
  async latest(scope: JudgmentScope, options: ListOptions, limit: number): Promise<Stored<Judgment>[]> {
    return this.#readFirst(scope, this.pages(listingOf(scope), options), limit);
  }

  /** Returns up to `limit` matching judgments of a scope, latest first, and the number of all matching judgments. */
  async latestWithTotal(scope: JudgmentScope, filters: JudgmentFilters, limit: number): Promise<JudgmentsWithTotal> {
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    const [judgments, total] = await Promise.all([
      this.latest(scope, { filters }, limit),
      isFiltered ? this.#countMatching(scope, filters) : this.count(scope),
    ]);
    return { judgments, total };
  }

  /** Returns up to `limit` matching judgments of a thread, oldest first, and the number of all matching judgments. */
  async ofThread(
    scope: JudgmentScope,
    annotationId: string,
    options: ListOptions,
    limit: number,
  ): Promise<JudgmentsWithTotal> {
    const listed: ListedJudgment[] = [];
    for await (const page of this.pages(threadListing(scope, annotationId), { ...options, oldestFirst: true }))
      listed.push(...page.filter(({ key }) => isInDocument(key, scope.documentKey)));
    return { judgments: await this.#readFirst(scope, [listed], limit), total: listed.length };
  }

  /** Reads the first `limit` listed judgments. Skips deleted ones. */
  async #readFirst(
    scope: JudgmentScope,
    listing: Iterable<ListedJudgment[]> | AsyncIterable<ListedJudgment[]>,
    limit: number,
  ): Promise<Stored<Judgment>[]> {
    const judgments: Stored<Judgment>[] = [];
    for await (const page of listing) {
      for (const listed of slicesOf(page, READ_JUDGMENTS)) {
        const stored = await this.read(scope, listed);
        judgments.push(...stored.filter((judgment) => judgment !== undefined));
        if (judgments.length >= limit) return judgments.slice(0, limit);
      }
    }
    return judgments;
  }

  async #countMatching(scope: JudgmentScope, filters: JudgmentFilters): Promise<number> {
    let count = 0;
    for await (const page of this.pages(listingOf(scope), { filters })) count += page.length;
    return count;
  }

  /** Yields the keys and times of matching judgments, page by page. Reads only the index. */
  async *pages(
    { index, partition }: JudgmentListing,
    { filters = {}, range = ALL_TIME, oldestFirst = false }: ListOptions,
  ): AsyncGenerator<ListedJudgment[]> {
    const options = { limit: PAGE_KEYS, descending: !oldestFirst, between: listingRange(range) };
    for await (const { keys, sortKeys } of pages((after) =>
      this.#table.queryIndex(index, partition, { ...options, after }),
    )) {
      yield keys.flatMap((key, position) => {
        const { at, matches } = parseListingKey(sortKeys[position] ?? '');
        return matches(filters) ? [{ key, at }] : [];
      });
    }
  }

  /**
   * Returns the listed judgments, in the same order. An entry is undefined if the judgment, its document or its
   * organization is deleted.
   */
  async read(
    scope: JudgmentScope,
    listed: readonly { readonly key: Key }[],
  ): Promise<(Stored<Judgment> | undefined)[]> {
    const judgments = await this.#table.getByKeys(
      JudgmentEntity,
      listed.map(({ key }) => key),
    );
    // The document of the scope exists, so no judgment needs a check of its document.
    if (scope.documentKey !== undefined) return judgments;
    const liveDocuments = await this.#findLiveDocuments(
      scope,
      judgments.filter((judgment) => judgment !== undefined),
    );
    return judgments.map((judgment) => {
      const documents = judgment && liveDocuments.get(judgment.organizationKey);
      return documents && (judgment.documentKey === undefined || documents.has(judgment.documentKey))
        ? judgment
        : undefined;
    });
  }

  /**
   * Returns which documents of these judgments exist, as a map from `organizationKey` to a set of `documentKey`.
   * Deleted organizations are not in the map.
   */
  async #findLiveDocuments(
    { tenant, organizationKey, ...flags }: JudgmentScope,
    judgments: readonly Judgment[],
  ): Promise<Map<string, ReadonlySet<string>>> {
    const organizationIds = distinct(judgments.map(({ organizationId }) => organizationId));
    const scopes =
      organizationKey === undefined
        ? (await this.#organizations.find(tenant, organizationIds)).flatMap((organization) =>
            organization ? [organizationScope(tenant, organization)] : [],
          )
        : [{ ...flags, tenant, organizationKey }];
    const entries = scopes.map(async (scope) => {
      const judgmentsInScope = judgments.filter((judgment) => judgment.organizationKey === scope.organizationKey);
      const documentIds = judgmentsInScope.flatMap(({ documentId = [] }) => documentId);
      const documents = documentIds.length > 0 ? await findLiveDocuments(this.#documents, scope, documentIds) : [];
      return [scope.organizationKey, new Set([...documents.values()].map(({ internalId }) => internalId))] as const;
    });
    return new Map(await Promise.all(entries));
  }
}

export const readJudgments = /* @__PURE__ */ storeCapability(
  JudgmentLists,
  ['BatchGetItem'],
  ['gsi1', 'gsi2', 'gsi3', 'gsi4'],
);

/**
 * Returns the scope for the ids in a request. Throws INVALID_ARGUMENT for an unknown organization and NOT_FOUND for an
 * unknown document.
 */
export type FindScope = (
  tenant: string,
  ids: { readonly organizationId?: string | undefined; readonly documentId?: string | undefined },
) => Promise<JudgmentScope>;

export const findScope: Capability<FindScope> = /* @__PURE__ */ combine(
  { readListing },
  ({ readListing: read }): FindScope =>
    async (tenant, { organizationId, documentId }) => {
      if (organizationId === undefined) return { tenant };
      return read(tenant, { organizationId, documentId }, ({ organization, document }) =>
        Promise.resolve({ ...organization, documentKey: document?.scope.documentKey }),
      );
    },
);
