import { involvedAt, InvolvementEntity } from '../content/involvements.ts';
import type { ContentKind, KindInvolvements } from '../content/kind.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { hasEndedInDocument } from '../directory/rules/access.ts';
import type { InvolvedDocuments } from '../directory/rules/involvedDocuments.ts';
import { findUsers } from '../directory/users.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { distinctBy } from '../shared/collections.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { involvingKinds } from './userData.ts';

/** The latest records that are read per user and kind. */
const INVOLVEMENTS_READ = 1_000;

interface LatestRecord {
  readonly documentId: string;
  readonly documentKey: string;
  readonly at: number;
  /** Epoch ms. */
  readonly involvedAt: number;
}

export class InvolvedDocumentsReader {
  readonly #table: Table;
  readonly #kinds: ReturnType<typeof involvingKinds>;

  constructor(table: Table, kinds: readonly ContentKind[] = contentKinds) {
    this.#table = table;
    this.#kinds = involvingKinds(kinds);
  }

  /** In the order of `userIds`. Without deleted documents, and records from before a removal of the user. */
  async read(scope: OrganizationScope, userIds: readonly string[]): Promise<InvolvedDocuments[]> {
    const [latestRecords, users] = await Promise.all([
      Promise.all(userIds.map((userId) => this.#readLatest(scope, userId))),
      findUsers(this.#table, scope.tenant, userIds),
    ]);
    const documentIds = latestRecords.flatMap(({ latest }) => latest.map(({ documentId }) => documentId));
    const liveDocuments = await findLiveDocuments(new DocumentReader(this.#table), scope, documentIds);
    return latestRecords.map(({ latest, hasMore }, index) => {
      const involved = latest.filter(({ documentId, documentKey, involvedAt: since }) => {
        const document = liveDocuments.get(documentId);
        if (document?.internalId !== documentKey) return false;
        return !hasEndedInDocument(users[index]?.revocations, document, scope.organizationKey, since);
      });
      return { documentIds: involved.map(({ documentId }) => documentId), hasMore };
    });
  }

  /** Latest first. */
  async #readLatest(scope: OrganizationScope, userId: string): Promise<{ latest: LatestRecord[]; hasMore: boolean }> {
    const kinds = await Promise.all(this.#kinds.map((kind) => this.#readLatestOfKind(scope, userId, kind)));
    const byTime = kinds.flatMap(({ latest }) => latest).sort((a, b) => b.at - a.at);
    return { latest: firstByDocument(byTime), hasMore: kinds.some(({ hasMore }) => hasMore) };
  }

  async #readLatestOfKind(
    scope: OrganizationScope,
    userId: string,
    { name: kind, involve }: ContentKind & { readonly involve: KindInvolvements },
  ): Promise<{ latest: LatestRecord[]; hasMore: boolean }> {
    const { values, next } = await this.#table.query(
      InvolvementEntity,
      { ...scope, userId },
      { prefix: ['DATA', kind], limit: INVOLVEMENTS_READ, descending: true },
    );
    const involvements = firstByDocument(values).map((involvement) => ({ ...involvement, userId, kind }));
    const records = await (involve.readDocuments?.(this.#table, scope, involvements) ??
      involve.read(this.#table, scope, involvements));
    const latest = involvements.flatMap((involvement, index) => {
      const { documentKey, at } = involvement;
      const documentId = records[index]?.documentId;
      return documentId === undefined ? [] : [{ documentKey, at, involvedAt: involvedAt(involvement), documentId }];
    });
    return { latest, hasMore: next !== undefined };
  }
}

function firstByDocument<T extends { readonly documentKey: string }>(records: readonly T[]): T[] {
  return distinctBy(records, ({ documentKey }) => documentKey);
}

export const readInvolvedDocuments = /* @__PURE__ */ storeCapability(InvolvedDocumentsReader, [
  'BatchGetItem',
  'Query',
]);
