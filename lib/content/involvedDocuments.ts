import * as z from 'zod';
import { distinctBy } from '../shared/collections.ts';
import { folderChain, hasEnded } from '../directory/rules/access.ts';
import { DocumentReader } from '../directory/documents.ts';
import { departuresOf } from '../directory/folders/folderDepartures.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { UserEntity } from '../directory/users.ts';
import { type InvolvedKind, involvedKinds, type Involvement, InvolvementEntity } from './involvements.ts';
import { readNotifications } from '../notifications/notifications.ts';
import { readReactions } from '../reactions/reactions.ts';
import { readRecordings } from '../recordings/recordings.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { findLiveDocuments } from './recordListing.ts';

/** The documents of an organization that a user is involved in. */
export interface InvolvedDocuments {
  /** The customer's ids. The document with the latest record is first. */
  readonly documentIds: readonly string[];
  /** Whether older records were not read, so that documents can be missing. */
  readonly hasMore: boolean;
}

/** The users of one call. Each costs a read of up to 1,000 records of every kind. */
const MOST_USERS = 5;

/** Requires 1 to 5 user ids in a request for involved documents. */
export const limitInvolvedUsers = z.refine<{
  includeInvolvedDocuments?: boolean | undefined;
  includeInvolvedDocumentsCount?: boolean | undefined;
  userIds?: readonly string[] | undefined;
}>(
  ({ includeInvolvedDocuments, includeInvolvedDocumentsCount, userIds }) =>
    !(includeInvolvedDocuments || includeInvolvedDocumentsCount) ||
    (userIds !== undefined && userIds.length <= MOST_USERS),
  {
    path: ['userIds'],
    error: `must name 1 to ${MOST_USERS} users together with includeInvolvedDocuments or includeInvolvedDocumentsCount`,
  },
);

/** The fields for involved documents in the response of a user. */
export const InvolvedFields = {
  involvedDocuments: z.array(z.string()).optional(),
  involvedDocumentsCount: z.int().optional(),
  hasMoreInvolvedDocuments: z.boolean().optional(),
};

/** Returns the fields for involved documents in the response of a user. */
export function toInvolvedFields(
  { documentIds, hasMore }: InvolvedDocuments = { documentIds: [], hasMore: false },
  {
    withIds = false,
    withCount = false,
  }: { readonly withIds?: boolean | undefined; readonly withCount?: boolean | undefined },
) {
  return {
    ...(withIds && { involvedDocuments: [...documentIds] }),
    ...(withCount && { involvedDocumentsCount: documentIds.length }),
    hasMoreInvolvedDocuments: hasMore,
  };
}

/** The latest records of each kind that are read for one user. */
export const INVOLVEMENTS_READ = 1_000;

/** The latest record of a user in a document. */
interface LatestRecord {
  readonly documentId: string;
  readonly documentKey: string;
  readonly at: number;
}

/** Reads the documents that users are involved in: those with comments, reactions, recordings and notifications of their data. */
export class InvolvedDocumentsReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the documents of each user, without deleted documents and records from before the user was removed from the document. */
  async read(scope: OrganizationScope, userIds: readonly string[]): Promise<InvolvedDocuments[]> {
    const [read, users] = await Promise.all([
      Promise.all(userIds.map((userId) => this.#readLatest(scope, userId))),
      this.#table.getMany(
        UserEntity,
        userIds.map((userId) => ({ tenant: scope.tenant, userId })),
      ),
    ]);
    const documentIds = read.flatMap(({ latest }) => latest.map(({ documentId }) => documentId));
    const live = await findLiveDocuments(new DocumentReader(this.#table), scope, documentIds);
    // Departures are compared with the folders, so the folders must be read first.
    const departures = await departuresOf(this.#table, scope, users);
    return read.map(({ latest, hasMore }, index) => {
      const involved = latest.filter(({ documentId, documentKey, at }) => {
        const document = live.get(documentId);
        if (document?.internalId !== documentKey) return false;
        const folders = document.folder ? folderChain(document.folder) : [];
        return !hasEnded(departures[index], [documentKey, ...folders, scope.organizationKey], at);
      });
      return { documentIds: involved.map(({ documentId }) => documentId), hasMore };
    });
  }

  /** Returns the latest record of a user in each document, the latest first. */
  async #readLatest(scope: OrganizationScope, userId: string): Promise<{ latest: LatestRecord[]; hasMore: boolean }> {
    const kinds = await Promise.all(involvedKinds.map((kind) => this.#readLatestOfKind(scope, userId, kind)));
    const byTime = kinds.flatMap(({ latest }) => latest).sort((a, b) => b.at - a.at);
    return { latest: firstByDocument(byTime), hasMore: kinds.some(({ hasMore }) => hasMore) };
  }

  async #readLatestOfKind(
    scope: OrganizationScope,
    userId: string,
    kind: InvolvedKind,
  ): Promise<{ latest: LatestRecord[]; hasMore: boolean }> {
    const { values, next } = await this.#table.query(
      InvolvementEntity,
      { ...scope, userId },
      { prefix: ['DATA', kind], limit: INVOLVEMENTS_READ, descending: true },
    );
    const involvements = firstByDocument(values).map((involvement) => ({ ...involvement, userId, kind }));
    const records = await this.#readRecords(scope, kind, involvements);
    const latest = involvements.flatMap(({ documentKey, at }, index) => {
      const documentId = records[index]?.documentId;
      return documentId === undefined ? [] : [{ documentKey, at, documentId }];
    });
    return { latest, hasMore: next !== undefined };
  }

  async #readRecords(
    scope: OrganizationScope,
    kind: InvolvedKind,
    involvements: readonly Involvement[],
  ): Promise<readonly ({ readonly documentId: string } | undefined)[]> {
    if (kind === 'reaction') return readReactions(this.#table, scope, involvements);
    if (kind === 'recording') return readRecordings(this.#table, scope, involvements);
    if (kind === 'notification') return readNotifications(this.#table, scope, involvements);
    return this.#table.getMany(
      ThreadEntity,
      involvements.map(({ documentKey, id, createdAt }) => ({ ...scope, documentKey, annotationId: id, createdAt })),
    );
  }
}

function firstByDocument<T extends { readonly documentKey: string }>(records: readonly T[]): T[] {
  return distinctBy(records, ({ documentKey }) => documentKey);
}

export const readInvolvedDocuments = /* @__PURE__ */ storeCapability(InvolvedDocumentsReader, [
  'BatchGetItem',
  'Query',
]);
