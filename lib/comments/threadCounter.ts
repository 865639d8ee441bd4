import { AccessChecks } from '../content/accessChecks.ts';
import { type DocumentScope, documentScope } from '../content/documentScope.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentReader, type DocumentWithFolder, readDocuments, refuseArriving } from '../directory/documents.ts';
import { findOrganization, type OrganizationKeys, OrganizationReader } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import type { ThreadFilters } from './rules/threadFilters.ts';
import { type CommentAuthor, lastAuthors, type Thread, threadAccessOf, toAuthor } from './rules/threads.ts';
import { readThreads, ThreadReader } from './threads.ts';

export interface ThreadCount {
  readonly total: number;
  readonly unread: number;
}

interface CountOptions {
  readonly userId: string;
  readonly filters: ThreadFilters;
  readonly viewer?: Viewer | undefined;
  readonly now: number;
}

interface CountedDocument extends CountOptions {
  readonly organizationId: string;
  readonly document: DocumentWithFolder;
  readonly checks: AccessChecks;
}

type CommentRecord = RecordAccess & CommentAuthor;

const PARALLEL = 4;
const PAGE_SIZE = 1_000;
const COMMENTS_PER_PAGE = 20;
/** After this many bytes of hidden comments, a thread counts as read. */
const MAX_HIDDEN_BYTES = 4_000_000;

export class ThreadCounter {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
  }

  /**
   * Returns the numbers of threads that a user can see, per document. They are 0 for an unknown or hidden document.
   * `documentIds` must be distinct. Throws INVALID_ARGUMENT for an unknown organization, and FAILED_PRECONDITION for a
   * document that a migration still fills.
   */
  async count(
    tenant: string,
    organizationId: string,
    documentIds: readonly string[],
    user: CountOptions,
  ): Promise<ThreadCount[]> {
    const { content } = await this.#organizations.readWithin(tenant, organizationId, (organization) =>
      this.#countIn(organizationScope(tenant, organization), organization, documentIds, user),
    );
    return content;
  }

  async #countIn(
    scope: OrganizationScope,
    organization: OrganizationKeys,
    documentIds: readonly string[],
    user: CountOptions,
  ): Promise<ThreadCount[]> {
    const table = this.#table;
    const { organizationId } = organization;
    const checks = new AccessChecks(table, { scope, organization, now: user.now }, user.userId, user.viewer?.access);
    const liveDocuments = [...(await findLiveDocuments(new DocumentReader(table), scope, documentIds)).values()];
    refuseArriving(liveDocuments);
    const allowed = await checks.canSee(liveDocuments.map((document) => ({ document })));
    const visible = liveDocuments.filter((_document, index) => allowed[index]);
    const counts = await inParallel(visible, PARALLEL, (document) =>
      this.#countDocument(documentScope(scope, document), { organizationId, document, checks, ...user }),
    );
    const byId = new Map(visible.map(({ documentId }, index) => [documentId, counts[index]]));
    return documentIds.map((documentId) => byId.get(documentId) ?? { total: 0, unread: 0 });
  }

  async #countDocument(
    scope: DocumentScope,
    { organizationId, document, checks, userId, filters }: CountedDocument,
  ): Promise<ThreadCount> {
    const matching: { access: RecordAccess; thread: Thread; authors: readonly CommentRecord[] | undefined }[] = [];
    for await (const threads of new ThreadReader(this.#table).pages(scope, filters, PAGE_SIZE)) {
      for (const { thread, comments, more } of threads) {
        const access = { document, thread: threadAccessOf(thread, organizationId) };
        const authors = more ? undefined : lastAuthors(thread, comments).map((author) => ({ ...access, ...author }));
        matching.push({ access, thread, authors });
      }
    }
    const records = matching.flatMap(({ access, authors = [] }) => [access, ...authors]);
    const isVisible = await checks.canSee(records);
    const visible = new Set(records.filter((_record, index) => isVisible[index]));
    const counted = matching.filter(({ access }) => visible.has(access));
    const lastUsers = await inParallel(counted, PARALLEL, async ({ access, thread, authors }) => {
      const last = authors
        ? authors.find((author) => visible.has(author))
        : await this.#findLast(scope, thread, access, checks);
      return last?.userId;
    });
    const unread = lastUsers.filter((lastUser) => lastUser !== undefined && lastUser !== userId);
    return { total: counted.length, unread: unread.length };
  }

  /** Reads from the end. Returns undefined if none of the last comments (about 4 MB) is visible. */
  async #findLast(
    scope: DocumentScope,
    thread: Thread,
    access: RecordAccess,
    checks: AccessChecks,
  ): Promise<CommentRecord | undefined> {
    const reader = new ThreadReader(this.#table);
    const read = (after: string | undefined) =>
      reader.listComments(scope, thread, { limit: COMMENTS_PER_PAGE, descending: true, after });
    let bytesRead = 0;
    for await (const { values, bytes } of pages(read)) {
      const comments = values.map((comment) => ({ ...access, ...toAuthor(comment) }));
      const isVisible = await checks.canSee(comments);
      const last = comments.find((_comment, index) => isVisible[index]);
      bytesRead += bytes;
      if (last || bytesRead > MAX_HIDDEN_BYTES) return last;
    }
    return undefined;
  }
}

export const countThreads = /* @__PURE__ */ storeCapability(ThreadCounter, [
  readThreads,
  findOrganization,
  readDocuments,
]);
