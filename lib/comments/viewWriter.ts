import { AccessChecks } from '../content/accessChecks.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentReader, readDocuments } from '../directory/documents.ts';
import type { ItemOutcome } from '../shared/results.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { NOT_FOUND } from './rules/decideComments.ts';
import { threadAccessOf } from './rules/threads.ts';
import { readThreads, ThreadReader } from './threads.ts';
import { addViews } from './threadViews.ts';

interface View {
  readonly userId: string;
  readonly viewedAt: number;
  readonly viewer: Viewer | undefined;
  readonly now: number;
}

export class ViewWriter {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns one result per thread. Threads that the user may not see fail like unknown ones. Ids must be distinct. */
  async add(
    { organization, document, scope }: DocumentContext,
    annotationIds: readonly string[],
    { userId, viewedAt, viewer, now }: View,
  ): Promise<ItemOutcome[]> {
    const { organizationId } = organization;
    const [found, [documentInFolder]] = await Promise.all([
      new ThreadReader(this.#table).findByIds(scope, document.documentId, annotationIds),
      new DocumentReader(this.#table).attachFolders(scope, [{ ...document, _r: 0 }]),
    ]);
    const threads = documentInFolder ? found.filter((thread) => thread !== undefined) : [];
    const checks = new AccessChecks(this.#table, { scope, organization, now }, userId, viewer?.access);
    const isVisible = await checks.canSee(
      threads.map((thread) => ({ document: documentInFolder, thread: threadAccessOf(thread, organizationId) })),
    );
    const seen = threads.filter((_thread, index) => isVisible[index]);
    await addViews(this.#table, scope, userId, seen, { viewedAt, now });
    const seenIds = new Set(seen.map(({ annotationId }) => annotationId));
    return annotationIds.map((id) =>
      seenIds.has(id) ? { success: true, message: 'Viewed successfully' } : { success: false, message: NOT_FOUND },
    );
  }
}

export const writeViews = /* @__PURE__ */ storeCapability(ViewWriter, [readThreads, readDocuments, 'PutItem']);
