import { type Capability, combine } from '../app/capability.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { type DocumentReader, type DocumentWithFolder, readDocuments } from '../directory/documents.ts';
import { type OrganizationScope, organizationScope } from '../directory/folders/folders.ts';
import { findOrganization, type OrganizationKeys, type OrganizationReader } from '../directory/organizations.ts';
import { inParallel } from '../shared/inParallel.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import type { ThreadFilters } from './rules/threadFilters.ts';
import { lastAuthors, threadAccessOf } from './rules/threads.ts';
import { readThreads, ThreadReader } from './threads.ts';

/** The number of a document's threads that a user can see, and how many of them are unread. */
export interface ThreadCount {
  readonly total: number;
  readonly unread: number;
}

interface CountOptions {
  readonly organizationId: string;
  readonly document: DocumentWithFolder;
  readonly checks: AccessChecks;
  readonly userId: string;
  readonly filters: ThreadFilters;
}

interface ThreadCounterDeps {
  readonly table: Table;
  readonly organizations: Pick<OrganizationReader, 'readWithin'>;
  readonly documents: DocumentReader;
}

const PARALLEL = 4;
const PAGE_SIZE = 1_000;

export class ThreadCounter {
  readonly #deps: ThreadCounterDeps;

  constructor(deps: ThreadCounterDeps) {
    this.#deps = deps;
  }

  /**
   * Returns one entry per document id, with the exact number of threads that a user can see. The numbers are 0 if the document
   * does not exist or the user cannot see it. `documentIds` must be distinct. Throws INVALID_ARGUMENT for an unknown
   * organization.
   */
  async count(
    tenant: string,
    organizationId: string,
    documentIds: readonly string[],
    user: { userId: string; filters: ThreadFilters; viewer?: Viewer | undefined; now: number },
  ): Promise<ThreadCount[]> {
    const { content } = await this.#deps.organizations.readWithin(tenant, organizationId, (organization) =>
      this.#countIn(organizationScope(tenant, organization), organization, documentIds, user),
    );
    return content;
  }

  async #countIn(
    scope: OrganizationScope,
    organization: OrganizationKeys,
    documentIds: readonly string[],
    user: { userId: string; filters: ThreadFilters; viewer?: Viewer | undefined; now: number },
  ): Promise<ThreadCount[]> {
    const { documents, table } = this.#deps;
    const { organizationId } = organization;
    const checks = new AccessChecks(table, { scope, organization, now: user.now }, user.userId, user.viewer?.access);
    const liveDocuments = [...(await findLiveDocuments(documents, scope, documentIds)).values()];
    const allowed = await checks.canSee(liveDocuments.map((document) => ({ document })));
    const visible = liveDocuments.filter((_document, index) => allowed[index]);
    const counts = await inParallel(visible, PARALLEL, (document) => {
      const documentScope = { ...scope, documentKey: document.internalId };
      return this.#countDocument(documentScope, { organizationId, document, checks, ...user });
    });
    const byId = new Map(visible.map(({ documentId }, index) => [documentId, counts[index]]));
    return documentIds.map((documentId) => byId.get(documentId) ?? { total: 0, unread: 0 });
  }

  async #countDocument(
    scope: DocumentScope,
    { organizationId, document, checks, userId, filters }: CountOptions,
  ): Promise<ThreadCount> {
    const matching: { access: RecordAccess; authors: { userId: string; access: RecordAccess }[] }[] = [];
    for await (const threads of new ThreadReader(this.#deps.table).pages(scope, filters, PAGE_SIZE)) {
      for (const found of threads) {
        const access = { document, thread: threadAccessOf(found.thread, organizationId) };
        const authors = lastAuthors(found).map(({ accessFields, ...author }) => ({
          ...author,
          access: { ...access, accessFields },
        }));
        matching.push({ access, authors });
      }
    }
    const records = matching.flatMap(({ access, authors }) => [access, ...authors.map((author) => author.access)]);
    const isVisible = await checks.canSee(records);
    const visible = new Set(records.filter((_record, index) => isVisible[index]));
    const counted = matching.filter(({ access }) => visible.has(access));
    const unread = counted.filter(({ authors }) => {
      const last = authors.find(({ access }) => visible.has(access));
      return last !== undefined && last.userId !== userId;
    });
    return { total: counted.length, unread: unread.length };
  }
}

export const countThreads: Capability<ThreadCounter> = /* @__PURE__ */ combine(
  { readThreads, organizations: findOrganization, documents: readDocuments, table: /* @__PURE__ */ tableWith([]) },
  (deps) => new ThreadCounter(deps),
);
