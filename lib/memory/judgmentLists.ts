import { type Capability, combine } from '../app/capability.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import { ABSENT, DocumentReader, readDocuments, refuseArriving } from '../directory/documents.ts';
import { findOrganization, OrganizationReader } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { missingIssues } from '../directory/resources.ts';
import { distinct, slicesOf } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import {
  isInDocuments,
  JudgmentEntity,
  type JudgmentListing,
  listingOf,
  listingRange,
  parseListingKey,
  threadListing,
} from './entities.ts';
import { mergeByTime, type TimedPage } from './mergeByTime.ts';
import { ALL_TIME, type JudgmentFilters, type TimeRange } from './rules/filters.ts';
import type { Judgment } from './rules/judgments.ts';
import type { ScopeIds } from './rules/searchRequests.ts';

export interface JudgmentScope extends Partial<OrganizationScope> {
  readonly tenant: string;
  /** Without it, all documents of the organization or of the tenant, and judgments without a document. */
  readonly documentKeys?: readonly string[] | undefined;
  /** `read` leaves out the judgments of these documents, during a migration under either id. Counts include them. */
  readonly excludedDocumentIds?: readonly string[] | undefined;
}

/** Indexes have a value for one document, not for several: returns a scope for each document, or the scope. */
export function scopesInIndexes(scope: JudgmentScope): JudgmentScope[] {
  return scope.documentKeys?.map((documentKey) => ({ ...scope, documentKeys: [documentKey] })) ?? [scope];
}

function listingsOf(scope: JudgmentScope): JudgmentListing[] {
  return scopesInIndexes(scope).map(({ documentKeys: [documentKey] = [], ...of }) => listingOf({ ...of, documentKey }));
}

export interface ListOptions {
  readonly filters?: JudgmentFilters | undefined;
  readonly range?: TimeRange | undefined;
  readonly oldestFirst?: boolean;
}

export interface ListedJudgment {
  readonly key: Key;
  readonly at: number;
}

export interface JudgmentsWithTotal {
  readonly judgments: Stored<Judgment>[];
  readonly total: number;
}

const PAGE_KEYS = 1_000;
const READ_JUDGMENTS = 100;
const PARALLEL_COUNTS = 8;

/** Lists judgments by time, from indexes that are eventually consistent. */
export class JudgmentLists {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
    this.#documents = new DocumentReader(table);
  }

  async count(scope: JudgmentScope): Promise<number> {
    const counts = await inParallel(listingsOf(scope), PARALLEL_COUNTS, ({ index, partition }) =>
      this.#table.countIndex(index, partition),
    );
    return counts.reduce((total, count) => total + count, 0);
  }

  async latest(scope: JudgmentScope, options: ListOptions, limit: number): Promise<Stored<Judgment>[]> {
    return this.#readFirst(scope, this.pages(scope, options), limit);
  }

  async latestWithTotal(scope: JudgmentScope, filters: JudgmentFilters, limit: number): Promise<JudgmentsWithTotal> {
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    const [judgments, total] = await Promise.all([
      this.latest(scope, { filters }, limit),
      isFiltered ? this.#countMatching(scope, filters) : this.count(scope),
    ]);
    return { judgments, total };
  }

  async ofThread(
    scope: JudgmentScope,
    annotationId: string,
    options: ListOptions,
    limit: number,
  ): Promise<JudgmentsWithTotal> {
    const listed: ListedJudgment[] = [];
    for await (const { values } of this.#pagesOf(threadListing(scope, annotationId), { ...options, oldestFirst: true }))
      listed.push(...values.filter(({ key }) => isInDocuments(key, scope.documentKeys)));
    return { judgments: await this.#readFirst(scope, [listed], limit), total: listed.length };
  }

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
    for await (const page of this.pages(scope, { filters })) count += page.length;
    return count;
  }

  pages(scope: JudgmentScope, options: ListOptions): AsyncGenerator<ListedJudgment[]> {
    const listings = listingsOf(scope);
    // The first pages of all documents have as many keys as one page of an organization.
    const firstPage = Math.ceil(PAGE_KEYS / listings.length);
    return mergeByTime(
      listings.map((listing) => this.#pagesOf(listing, options, firstPage)),
      options.oldestFirst ?? false,
    );
  }

  async *#pagesOf(
    { index, partition }: JudgmentListing,
    { filters = {}, range = ALL_TIME, oldestFirst = false }: ListOptions,
    firstPage = PAGE_KEYS,
  ): AsyncGenerator<TimedPage<ListedJudgment>> {
    const options = { descending: !oldestFirst, between: listingRange(range) };
    for await (const { keys, sortKeys, next } of pages((after) =>
      this.#table.queryIndex(index, partition, {
        ...options,
        after,
        limit: after === undefined ? firstPage : PAGE_KEYS,
      }),
    )) {
      const values = keys.flatMap((key, position) => {
        const { at, matches } = parseListingKey(sortKeys[position] ?? '');
        return matches(filters) ? [{ key, at }] : [];
      });
      yield { values, isLast: next === undefined };
    }
  }

  async read(
    scope: JudgmentScope,
    listed: readonly { readonly key: Key }[],
  ): Promise<(Stored<Judgment> | undefined)[]> {
    const judgments = await this.#table.getByKeys(
      JudgmentEntity,
      listed.map(({ key }) => key),
    );
    if (scope.documentKeys !== undefined && !scope.excludedDocumentIds) return judgments;
    const readable = await this.#findReadableDocuments(
      scope,
      judgments.filter((judgment) => judgment !== undefined),
    );
    return judgments.map((judgment) => {
      const documents = judgment && readable.get(judgment.organizationKey);
      return documents && (judgment.documentKey === undefined || documents.has(judgment.documentKey))
        ? judgment
        : undefined;
    });
  }

  /** Without deleted and excluded documents. */
  async #findReadableDocuments(
    { tenant, organizationKey, excludedDocumentIds = [], ...flags }: JudgmentScope,
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
      const readable = [...documents.values()].filter(
        ({ documentId, leaving, arriving }) =>
          ![documentId, leaving?.to, arriving?.from].some((id) => id !== undefined && excludedDocumentIds.includes(id)),
      );
      return [scope.organizationKey, new Set(readable.map(({ internalId }) => internalId))] as const;
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
 * Throws INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document, and FAILED_PRECONDITION for a
 * `documentId` whose document still has another id until its migration ends.
 */
export type FindScope = (tenant: string, ids: ScopeIds) => Promise<JudgmentScope>;

export const findScope: Capability<FindScope> = /* @__PURE__ */ combine(
  { organizations: findOrganization, documents: readDocuments },
  ({ organizations, documents }): FindScope =>
    async (tenant, { organizationId, documentId, documentIds }) => {
      if (organizationId === undefined) return { tenant };
      const { content } = await organizations.readWithin(tenant, organizationId, async (keys) => {
        const scope = organizationScope(tenant, keys);
        if (documentId !== undefined) {
          const { internalId } = await documents.require(scope, documentId);
          return { ...scope, documentKeys: [internalId] };
        }
        if (documentIds === undefined) return scope;
        const found = await documents.getByIds(scope, documentIds);
        refuseArriving(found);
        const issues = missingIssues(found, (index) => ['documentIds', index]);
        if (issues.length > 0) throw new ApiError('NOT_FOUND', ABSENT, { details: { issues } });
        return { ...scope, documentKeys: distinct(found.flatMap((document) => document?.internalId ?? [])) };
      });
      return content;
    },
);
