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
import { accessFieldsOf } from './rules/commentContext.ts';
import type { Comment } from './rules/comments.ts';
import { lastSeenAt, mayBeUnread, unreadComments } from './rules/readState.ts';
import type { ThreadFilters } from './rules/threadFilters.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';
import { readThreads, ThreadReader } from './threads.ts';
import { readViewsOfDocument } from './threadViews.ts';

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

interface ThreadState {
  readonly thread: Thread;
  readonly access: RecordAccess;
  readonly seenAt: number;
  readonly records: readonly RecordAccess[];
  /** Undefined if no later comment can be unread. */
  readonly lastRead: Comment | undefined;
}

const PARALLEL = 4;
const PAGE_SIZE = 1_000;
const COMMENTS_PER_PAGE = 20;
/** After this many bytes of hidden comments, a thread counts as read. */
const MAX_LATER_BYTES = 4_000_000;

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
    const matching: ThreadState[] = [];
    const views = readViewsOfDocument(this.#table, scope, userId);
    const readAll = async () => {
      for await (const threads of new ThreadReader(this.#table).pages(scope, filters, PAGE_SIZE)) {
        const viewOf = await views;
        for (const { thread, comments, more } of threads) {
          const access = { document, thread: threadAccessOf(thread, organizationId) };
          const seenAt = lastSeenAt(thread, userId, viewOf(thread), comments);
          const records = toRecords(access, unreadComments(comments, userId, seenAt));
          const hasLater = more && mayBeUnread(thread, userId, seenAt);
          matching.push({ thread, access, seenAt, records, lastRead: hasLater ? comments.at(-1) : undefined });
        }
      }
    };
    await Promise.all([views, readAll()]);
    const records = matching.flatMap((state) => [state.access, ...state.records]);
    const isVisible = await checks.canSee(records);
    const visible = new Set(records.filter((_record, index) => isVisible[index]));
    const counted = matching.filter(({ access }) => visible.has(access));
    const isUnread = await inParallel(
      counted,
      PARALLEL,
      async (state) =>
        state.records.some((record) => visible.has(record)) ||
        (await this.#hasLaterUnread(scope, userId, state, checks)),
    );
    return { total: counted.length, unread: isUnread.filter(Boolean).length };
  }

  /** Reads from the end, about 4 MB at most. */
  async #hasLaterUnread(
    scope: DocumentScope,
    userId: string,
    { thread, access, seenAt, lastRead }: ThreadState,
    checks: AccessChecks,
  ): Promise<boolean> {
    if (!lastRead) return false;
    const reader = new ThreadReader(this.#table);
    const read = (after: string | undefined) =>
      reader.listComments(scope, thread, { limit: COMMENTS_PER_PAGE, descending: true, after });
    let bytesRead = 0;
    let seen = seenAt;
    for await (const { values, bytes } of pages(read)) {
      const later = values.filter(({ commentId }) => commentId > lastRead.commentId);
      seen = lastSeenAt(thread, userId, seen, later);
      const isVisible = await checks.canSee(toRecords(access, unreadComments(later, userId, seen)));
      if (isVisible.includes(true)) return true;
      bytesRead += bytes;
      if (later.length < values.length || bytesRead > MAX_LATER_BYTES) break;
    }
    return false;
  }
}

function toRecords(access: RecordAccess, comments: readonly Comment[]): RecordAccess[] {
  return comments.map(({ context }) => ({ ...access, accessFields: accessFieldsOf(context) }));
}

export const countThreads = /* @__PURE__ */ storeCapability(ThreadCounter, [
  readThreads,
  findOrganization,
  readDocuments,
]);
