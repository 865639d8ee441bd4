import * as z from 'zod';
import { folderChain, hasEnded } from '../directory/rules/access.ts';
import { DocumentReader } from '../directory/documents.ts';
import { departuresOf } from '../directory/folders/folderDepartures.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { Table } from '../table/table.ts';
import { UserEntity } from '../directory/users.ts';
import { type InvolvedKind, involvedKinds, type Involvement, InvolvementEntity } from './involvements.ts';
import { readNotifications } from '../notifications/notifications.ts';
import { readReactions } from '../reactions/reactions.ts';
import { readRecordings } from '../recordings/recordings.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { findLiveDocuments } from './recordListing.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** The documents of an organization that a user is involved in. */
export interface InvolvedDocuments {
  /** The customer's ids, the one with the latest record first. */
  readonly documentIds: readonly string[];
  /** Whether older records were not looked at, so that documents can be missing. */
  readonly hasMore: boolean;
}

/** Users whose documents one call reads: for each it reads up to 1,000 records of every kind. */
const MOST_INVOLVED = 5;

/** Refuses to read the documents of more users than that, or of users that are not named. */
export const limitInvolvedUsers = z.refine<{
  includeInvolvedDocuments?: boolean | undefined;
  includeInvolvedDocumentsCount?: boolean | undefined;
  userIds?: readonly string[] | undefined;
}>(
  ({ includeInvolvedDocuments, includeInvolvedDocumentsCount, userIds }) =>
    !(includeInvolvedDocuments || includeInvolvedDocumentsCount) ||
    (userIds !== undefined && userIds.length <= MOST_INVOLVED),
  {
    path: ['userIds'],
    error: `must name 1 to ${MOST_INVOLVED} users together with includeInvolvedDocuments or includeInvolvedDocumentsCount`,
  },
);

/** The fields of an answer about a user that tell of these documents. */
export const InvolvedFields = {
  involvedDocuments: z.array(z.string()).optional(),
  involvedDocumentsCount: z.int().optional(),
  hasMoreInvolvedDocuments: z.boolean().optional(),
};

/** What an answer about a user says of these documents. */
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

/** How many records of each kind are looked at for one user, the latest first. */
export const INVOLVEMENTS_READ = 1_000;

/** Reads which documents users are involved in: those with comments, reactions, recordings and notifications that their data list. */
export class InvolvedDocumentsReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The documents of each of the users. What lies in a document that is gone is left out, and what is from before the user left the document. */
  async read(scope: OrganizationScope, userIds: readonly string[]): Promise<InvolvedDocuments[]> {
    const [read, users] = await Promise.all([
      Promise.all(userIds.map((userId) => this.#latest(scope, userId))),
      this.#table.getMany(
        UserEntity,
        userIds.map((userId) => ({ tenant: scope.tenant, userId })),
      ),
    ]);
    const live = await findLiveDocuments(
      new DocumentReader(this.#table),
      scope,
      read.flatMap(({ latest }) => latest.map(({ documentId }) => documentId)),
    );
    // Departures are read after the folders that they are compared with.
    const departures = await departuresOf(this.#table, scope, users);
    return read.map(({ latest, hasMore }, index) => {
      const involved = latest.filter(({ documentId, documentKey, at }) => {
        const found = live.get(documentId);
        if (found?.internalId !== documentKey) return false;
        return !hasEnded(
          departures[index],
          [documentKey, ...(found.folder ? folderChain(found.folder) : []), scope.organizationKey],
          at,
        );
      });
      return { documentIds: involved.map(({ documentId }) => documentId), hasMore };
    });
  }

  /** The latest record of a user in each document. */
  async #latest(
    scope: OrganizationScope,
    userId: string,
  ): Promise<{ latest: { documentId: string; documentKey: string; at: number }[]; hasMore: boolean }> {
    const kinds = await Promise.all(
      involvedKinds.map(async (kind) => {
        const { values, next } = await this.#table.query(
          InvolvementEntity,
          { ...scope, userId },
          { prefix: ['DATA', kind], limit: INVOLVEMENTS_READ, descending: true },
        );
        const latest = [...Map.groupBy(values, ({ documentKey }) => documentKey).values()].map(([first]) => ({
          ...(first as (typeof values)[number]),
          userId,
          kind,
        }));
        const documentIds = await this.#documentIds(scope, kind, latest);
        return {
          next,
          found: latest.flatMap(({ documentKey, at }, index) =>
            documentIds[index] === undefined ? [] : [{ documentKey, at, documentId: documentIds[index] }],
          ),
        };
      }),
    );
    const byTime = kinds.flatMap(({ found }) => found).sort((a, b) => b.at - a.at);
    return {
      latest: [...Map.groupBy(byTime, ({ documentKey }) => documentKey).values()].flatMap(([first]) => first ?? []),
      hasMore: kinds.some(({ next }) => next !== undefined),
    };
  }

  /** The customer's ids of the documents that records lie in, undefined where a record is gone. */
  async #documentIds(
    scope: OrganizationScope,
    kind: InvolvedKind,
    edges: readonly Involvement[],
  ): Promise<(string | undefined)[]> {
    const records = await this.#records(scope, kind, edges);
    return records.map((record) => record?.documentId);
  }

  async #records(
    scope: OrganizationScope,
    kind: InvolvedKind,
    edges: readonly Involvement[],
  ): Promise<readonly ({ readonly documentId: string } | undefined)[]> {
    if (kind === 'reaction') return readReactions(this.#table, scope, edges);
    if (kind === 'recording') return readRecordings(this.#table, scope, edges);
    if (kind === 'notification') return readNotifications(this.#table, scope, edges);
    return this.#table.getMany(
      ThreadEntity,
      edges.map(({ documentKey, id, createdAt }) => ({ ...scope, documentKey, annotationId: id, createdAt })),
    );
  }
}

/** Read which documents users are involved in. */
export const readInvolvedDocuments = /* @__PURE__ */ storeCapability(InvolvedDocumentsReader, [
  'BatchGetItem',
  'Query',
]);
