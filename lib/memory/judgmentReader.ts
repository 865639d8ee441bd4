import { distinct } from '../shared/collections.ts';
import { ALWAYS, type JudgmentFilters, type TimeRange } from './rules/filters.ts';
import type { Judgment } from './rules/judgments.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { Key, Stored } from '../table/entity.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { OrganizationReader } from '../directory/organizations.ts';
import type { Table } from '../table/table.ts';
import { JudgmentEntity, type JudgmentListing, listedBetween, listingOf, readListed } from './entities.ts';
import { countIndex } from './vectorSearch.ts';

/** Where to look: in all that a tenant has, in an organization that is there, or in a document of it that is there. */
export interface JudgmentScope {
  readonly tenant: string;
  readonly organization?: OrganizationScope | undefined;
  /** Internal id. */
  readonly documentKey?: string | undefined;
}

/** What a listing wants. */
export interface Wanted {
  readonly filters?: JudgmentFilters | undefined;
  readonly range?: TimeRange | undefined;
}

/** A judgment as it is listed: its key, and when it was made. */
export interface Listed {
  readonly key: Key;
  readonly at: number;
}

/** How many keys are listed at a time, and how many judgments are read for one that is wanted, as some can be gone. */
const LISTED = 1_000;
const READ = 100;

/** Reads judgments by time, from the indexes of their scopes: these follow the table a moment later. */
export class JudgmentReader {
  protected readonly table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.table = table;
    this.#organizations = new OrganizationReader(table);
    this.#documents = new DocumentReader(table);
  }

  /** How many judgments a scope has. */
  async count({ tenant, organization, documentKey }: JudgmentScope): Promise<number> {
    const { index, partition } = listingOf({ tenant, organizationKey: organization?.organizationKey, documentKey });
    return countIndex(this.table, index, partition);
  }

  /** The judgments that are wanted in a scope, the latest first. */
  async latest(scope: JudgmentScope, wanted: Wanted, limit: number): Promise<Stored<Judgment>[]> {
    return this.#some(
      scope,
      this.list(
        listingOf({
          tenant: scope.tenant,
          organizationKey: scope.organization?.organizationKey,
          documentKey: scope.documentKey,
        }),
        wanted,
        true,
      ),
      limit,
    );
  }

  /** The same with how many there are. */
  async latestAndTotal(
    scope: JudgmentScope,
    filters: JudgmentFilters,
    limit: number,
  ): Promise<{ judgments: Stored<Judgment>[]; total: number }> {
    const isFiltered = Object.values(filters).some((value) => value !== undefined);
    const [judgments, total] = await Promise.all([
      this.latest(scope, { filters }, limit),
      isFiltered ? this.#countListed(scope, { filters }) : this.count(scope),
    ]);
    return { judgments, total };
  }

  /** The judgments of a thread that are wanted, the oldest first, and how many there are. */
  async ofThread(
    scope: JudgmentScope,
    listing: JudgmentListing,
    wanted: Wanted,
    limit: number,
  ): Promise<{ judgments: Stored<Judgment>[]; total: number }> {
    const listed: Listed[] = [];
    for await (const page of this.list(listing, wanted, false)) listed.push(...page);
    const all = await this.alive(
      scope,
      await this.table.getByKeys(
        JudgmentEntity,
        listed.map(({ key }) => key),
      ),
    );
    const found = all.filter(
      (judgment) =>
        judgment !== undefined && (scope.documentKey === undefined || judgment.documentKey === scope.documentKey),
    ) as Stored<Judgment>[];
    return { judgments: found.slice(0, limit), total: found.length };
  }

  async #countListed({ tenant, organization, documentKey }: JudgmentScope, wanted: Wanted): Promise<number> {
    let count = 0;
    for await (const page of this.list(
      listingOf({ tenant, organizationKey: organization?.organizationKey, documentKey }),
      wanted,
      true,
    ))
      count += page.length;
    return count;
  }

  /** The first of those that are listed and there. */
  async #some(
    scope: JudgmentScope,
    pages: AsyncIterable<readonly Listed[]>,
    limit: number,
  ): Promise<Stored<Judgment>[]> {
    const found: Stored<Judgment>[] = [];
    for await (const page of pages) {
      for (let at = 0; at < page.length && found.length < limit; at += READ) {
        const judgments = await this.table.getByKeys(
          JudgmentEntity,
          page.slice(at, at + Math.max(READ, limit - found.length)).map(({ key }) => key),
        );
        found.push(...(await this.alive(scope, judgments)).filter((judgment) => judgment !== undefined));
      }
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Those of a listing that are wanted, page by page, without reading any of them. */
  protected async *list(
    { index, partition }: JudgmentListing,
    { filters = {}, range = ALWAYS }: Wanted,
    descending: boolean,
  ): AsyncGenerator<Listed[]> {
    let after: string | undefined;
    do {
      const { keys, positions, next } = await this.table.queryIndex(index, partition, {
        limit: LISTED,
        after,
        descending,
        between: listedBetween(range),
      });
      yield keys.flatMap((key, at) => {
        const listed = readListed(
          (JSON.parse(positions[at] as string) as Record<string, string>)[`${index}sk`] as string,
        );
        return listed.meets(filters) ? [{ key, at: listed.at }] : [];
      });
      after = next;
    } while (after !== undefined);
  }

  /** The judgments in their order, undefined for those whose organization or document is gone, with which they are gone as well. */
  protected async alive(
    scope: JudgmentScope,
    judgments: readonly (Stored<Judgment> | undefined)[],
  ): Promise<(Stored<Judgment> | undefined)[]> {
    // Nothing in a document that is there is gone.
    if (scope.documentKey !== undefined) return [...judgments];
    const there = judgments.filter((judgment) => judgment !== undefined);
    const places = scope.organization
      ? [scope.organization]
      : await this.#places(scope.tenant, distinct(there.map(({ organizationId }) => organizationId)));
    const documents = new Map(
      await Promise.all(
        places.map(async (scope) => {
          const documentIds = there.flatMap(({ organizationKey, documentId }) =>
            organizationKey === scope.organizationKey && documentId !== undefined ? [documentId] : [],
          );
          const live =
            documentIds.length > 0
              ? await findLiveDocuments(this.#documents, scope, documentIds)
              : new Map<string, { readonly internalId: string }>();
          return [scope.organizationKey, live] as const;
        }),
      ),
    );
    return judgments.map((judgment) => {
      const live = judgment && documents.get(judgment.organizationKey);
      if (!live) return undefined;
      return judgment.documentId === undefined || live.get(judgment.documentId)?.internalId === judgment.documentKey
        ? judgment
        : undefined;
    });
  }

  async #places(tenant: string, organizationIds: readonly string[]): Promise<OrganizationScope[]> {
    return (await this.#organizations.named(tenant, organizationIds)).map((organization) =>
      organizationScope(tenant, organization),
    );
  }
}
