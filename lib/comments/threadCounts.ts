import { building, type Capability } from '../app/capability.ts';
import type { ThreadFilters } from './rules/threadFilters.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { threadAccessOf, isUnread } from './rules/threads.ts';
import { inParallel } from '../shared/inParallel.ts';
import { type DocumentReader, type PlacedDocument, readDocuments } from '../directory/documents.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import { findOrganization, type OrganizationReader } from '../directory/organizations.ts';
import { openTable, type Table } from '../table/table.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { readThreads, ThreadReader } from './threads.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import { findLiveDocuments } from '../content/recordListing.ts';

/** How many threads of a document a user sees, and in how many of them somebody else had the last word. */
export interface ThreadCount {
  readonly total: number;
  readonly unread: number;
}

/** What is counted in one document, and for whom. */
interface Counting {
  readonly organizationId: string;
  readonly document: PlacedDocument;
  readonly checks: AccessChecks;
  readonly userId: string;
  readonly filters: ThreadFilters;
}

const PARALLEL = 4;
/** How many threads are read at a time. */
const AT_A_TIME = 1_000;

export class ThreadCounter {
  readonly #table: Table;
  readonly #threads: ThreadReader;
  readonly #organizations: Pick<OrganizationReader, 'require'>;
  readonly #documents: DocumentReader;

  constructor(
    table: Table,
    finders: { organizations: Pick<OrganizationReader, 'require'>; documents: DocumentReader },
  ) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
    this.#organizations = finders.organizations;
    this.#documents = finders.documents;
  }

  /**
   * Returns the exact counts of threads that a user may see, one per document: 0 for a document that does not exist or that the user may not see. Ids
   * are distinct. INVALID_ARGUMENT for an unknown organization.
   */
  async count(
    tenant: string,
    organizationId: string,
    documentIds: readonly string[],
    user: { userId: string; filters: ThreadFilters; now: number },
  ): Promise<ThreadCount[]> {
    const organization = await this.#organizations.require(tenant, organizationId);
    const scope = organizationScope(tenant, organization);
    const checks = new AccessChecks(this.#table, { scope, organization, now: user.now }, user.userId);
    const live = await findLiveDocuments(this.#documents, scope, documentIds);
    const counts = new Map<string, ThreadCount>();
    const documents = [...live.values()];
    const allowed = await checks.canSee(documents.map((document) => ({ document })));
    await inParallel(
      documents.filter((_document, index) => allowed[index]),
      PARALLEL,
      async (document) => {
        counts.set(
          document.documentId,
          await this.#count(
            { ...scope, documentKey: document.internalId },
            { organizationId, document, checks, ...user },
          ),
        );
      },
    );
    return documentIds.map((documentId) => counts.get(documentId) ?? { total: 0, unread: 0 });
  }

  async #count(
    scope: DocumentScope,
    { organizationId, document, checks, userId, filters }: Counting,
  ): Promise<ThreadCount> {
    const threads: { guard: RecordAccess; unread: boolean }[] = [];
    let after: string | undefined;
    do {
      const { records, next } = await this.#threads.list(scope, {
        descending: false,
        filters,
        limit: AT_A_TIME,
        after,
      });
      threads.push(
        ...records.map(({ value: { thread } }) => ({
          guard: { document, thread: threadAccessOf(thread, organizationId) },
          unread: isUnread(thread, userId),
        })),
      );
      after = next;
    } while (after !== undefined);
    const visible = await checks.canSee(threads.map(({ guard }) => guard));
    const seen = threads.filter((_thread, index) => visible[index]);
    return { total: seen.length, unread: seen.filter(({ unread }) => unread).length };
  }
}

/** Count the threads of documents for a user. */
export const countThreads: Capability<ThreadCounter> = /* @__PURE__ */ building(
  [findOrganization, readDocuments, readThreads],
  {
    grants: [],
    env: [],
    open: (env) =>
      new ThreadCounter(openTable(env), {
        organizations: findOrganization.open(env),
        documents: readDocuments.open(env),
      }),
  },
);
