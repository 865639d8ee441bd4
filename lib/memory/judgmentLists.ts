import { type Capability, combine } from '../app/capability.ts';
import { findLiveDocuments, readListing } from '../content/recordListing.ts';
import { DocumentReader } from '../directory/documents.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
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

export interface JudgmentScope extends Partial<OrganizationScope> {
  readonly tenant: string;
  readonly documentKey?: string | undefined;
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
    const { index, partition } = listingOf(scope);
    return this.#table.countIndex(index, partition);
  }

  async latest(scope: JudgmentScope, options: ListOptions, limit: number): Promise<Stored<Judgment>[]> {
    return this.#readFirst(scope, this.pages(listingOf(scope), options), limit);
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
    for await (const page of this.pages(threadListing(scope, annotationId), { ...options, oldestFirst: true }))
      listed.push(...page.filter(({ key }) => isInDocument(key, scope.documentKey)));
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
    for await (const page of this.pages(listingOf(scope), { filters })) count += page.length;
    return count;
  }

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

  async read(
    scope: JudgmentScope,
    listed: readonly { readonly key: Key }[],
  ): Promise<(Stored<Judgment> | undefined)[]> {
    const judgments = await this.#table.getByKeys(
      JudgmentEntity,
      listed.map(({ key }) => key),
    );
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

/** Throws INVALID_ARGUMENT for an unknown organization and NOT_FOUND for an unknown document. */
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
