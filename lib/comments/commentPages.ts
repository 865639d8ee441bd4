import { building, type Capability } from '../app/capability.ts';
import { type Comment, MAX_COMMENTS } from './rules/comments.ts';
import type { ContentNames } from '../content/rules/names.ts';
import type { Reaction } from '../reactions/rules.ts';
import { type DocumentReader, readDocuments } from '../directory/documents.ts';
import type { Stored } from '../table/entity.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import { findOrganization, type OrganizationReader } from '../directory/organizations.ts';
import { openTable, type Table } from '../table/table.ts';
import type { DocumentScope, DocumentReference } from '../content/documentScope.ts';
import { readCommentReactions } from '../reactions/reactions.ts';
import { findRecordIds } from '../content/recordIds.ts';
import { CommentEntity, readThreads, ThreadEntity, type ThreadKey, ThreadReader, threadNotFound } from './threads.ts';

/** A comment with the reactions on it. */
export interface CommentWithReactions {
  readonly comment: Stored<Comment>;
  readonly reactions: readonly Reaction[];
}

/** Which comments of a thread a page is of. */
export interface CommentListing {
  /** Only those that one of these users wrote. */
  readonly userIds?: readonly string[] | undefined;
  readonly limit: number;
  /** Where the last page ended. */
  readonly after?: string | undefined;
}

/** A page ends early at this size of what it shows as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
/** How much of its reactions comes with a comment, as JSON. */
const REACTION_BYTES = 500_000;
/** How many reactions are read at a time, unless a single comment has more. */
const REACTIONS_AT_A_TIME = 300;

/** How a request names a thread. */
export interface ThreadReference extends DocumentReference {
  readonly annotationId: string;
}

/** A thread by its key, and where it lies. */
export interface LocatedThread {
  readonly names: ContentNames;
  readonly scope: DocumentScope;
  readonly key: ThreadKey;
}

/** Reads the comments of one thread with the reactions on them. */
export class CommentPages {
  readonly #table: Table;
  readonly #threads: ThreadReader;
  readonly #organizations: Pick<OrganizationReader, 'require'>;
  readonly #documents: Pick<DocumentReader, 'require'>;

  constructor(
    table: Table,
    organizations: Pick<OrganizationReader, 'require'>,
    documents: Pick<DocumentReader, 'require'>,
  ) {
    this.#table = table;
    this.#threads = new ThreadReader(table);
    this.#organizations = organizations;
    this.#documents = documents;
  }

  /** Where a thread is. INVALID_ARGUMENT for an unknown organization, NOT_FOUND for an unknown document or annotation. */
  async findThread(
    tenant: string,
    { organizationId, documentId, annotationId }: ThreadReference,
  ): Promise<LocatedThread> {
    const organization = await this.#organizations.require(tenant, organizationId);
    const scope = organizationScope(tenant, organization);
    // Both at once: an id says which document it is of.
    const [document, [position]] = await Promise.all([
      this.#documents.require(scope, documentId),
      findRecordIds(this.#table, scope, [{ kind: 'thread', id: annotationId, within: documentId }]),
    ]);
    if (position?.documentKey !== document.internalId) throw threadNotFound();
    return {
      names: { apiKey: tenant, organization, document },
      scope: { ...scope, documentKey: document.internalId },
      key: { annotationId, createdAt: position.createdAt },
    };
  }

  /**
   * A page of a thread's comments in the order of their ids, as `show` gives them. It ends early at about 4 MB; where only some authors
   * are asked for at 4 MB of all comments, then with fewer or none. Ids do not change: a comment that is there through the whole
   * listing is given exactly once.
   */
  async list<V>(
    { scope, key }: LocatedThread,
    { userIds, limit, after }: CommentListing,
    show: (comment: CommentWithReactions) => V,
  ): Promise<{ values: V[]; next: string | undefined }> {
    const read = await this.#ofThread(
      scope,
      key,
      this.#threads.listComments(scope, key, { after, limit: userIds ? MAX_COMMENTS : limit }),
    );
    const wanted = read.values.filter(({ from }) => userIds?.includes(from.userId) ?? true);
    const values: V[] = [];
    let bytes = 0;
    let last: string | undefined;
    for await (const reacted of this.#withReactions(scope, wanted)) {
      const value = show(reacted);
      bytes += Buffer.byteLength(JSON.stringify(value));
      if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: last };
      values.push(value);
      last = CommentEntity.key({ ...scope, ...reacted.comment }).SK;
    }
    return { values, next: read.next };
  }

  /** The comments of a thread with these ids, undefined where there is none. */
  async findByIds(
    { scope, key }: LocatedThread,
    commentIds: readonly number[],
  ): Promise<(CommentWithReactions | undefined)[]> {
    const read = await this.#ofThread(scope, key, this.#threads.findComments(scope, key, commentIds));
    const comments = read.filter((comment) => comment !== undefined);
    const found = new Map<number, CommentWithReactions>();
    for await (const reacted of this.#withReactions(scope, comments)) found.set(reacted.comment.commentId, reacted);
    return commentIds.map((commentId) => found.get(commentId));
  }

  /** What was read of a thread, which was there at the same time: comments without a head are those of one that is being written or removed. */
  async #ofThread<T>(scope: DocumentScope, key: ThreadKey, reading: Promise<T>): Promise<T> {
    const [read, thread] = await Promise.all([reading, this.#table.get(ThreadEntity, { ...scope, ...key })]);
    if (!thread) throw threadNotFound();
    return read;
  }

  /** Comments with their reactions, some at a time: whoever has enough reads no more of them. */
  async *#withReactions(
    scope: DocumentScope,
    comments: readonly Stored<Comment>[],
  ): AsyncGenerator<CommentWithReactions> {
    for (const together of inGroups(comments)) {
      const reactions = (
        await readCommentReactions(
          this.#table,
          scope,
          together.flatMap((comment) => comment.reactions ?? []),
        )
      ).values();
      for (const comment of together)
        yield { comment, reactions: fitting((comment.reactions ?? []).map(() => reactions.next().value)) };
    }
  }
}

/** Comments whose reactions are read together. */
function inGroups(comments: readonly Stored<Comment>[]): Stored<Comment>[][] {
  const groups: Stored<Comment>[][] = [];
  let room = 0;
  for (const comment of comments) {
    const { length } = comment.reactions ?? [];
    const group = groups.at(-1);
    if (group && length <= room) group.push(comment);
    else groups.push([comment]);
    room = (group && length <= room ? room : REACTIONS_AT_A_TIME) - length;
  }
  return groups;
}

/** The reactions that are there, as far as they fit. */
function fitting(reactions: readonly (Reaction | undefined)[]): Reaction[] {
  let bytes = 0;
  return reactions
    .filter((reaction) => reaction !== undefined)
    .filter((reaction) => (bytes += Buffer.byteLength(JSON.stringify(reaction))) <= REACTION_BYTES);
}

/** Read comments with the reactions on them. */
export const readCommentPages: Capability<CommentPages> = /* @__PURE__ */ building(
  [findOrganization, readDocuments, readThreads],
  {
    grants: [],
    env: [],
    open: (env) => new CommentPages(openTable(env), findOrganization.open(env), readDocuments.open(env)),
  },
);
