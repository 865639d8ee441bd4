import {
  type DocumentContext,
  type DocumentReference,
  type DocumentScope,
  documentScope,
} from '../content/documentScope.ts';
import { findRecordIds, inDocument, recordIdKey } from '../content/recordIds.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentReader, readDocuments } from '../directory/documents.ts';
import { findOrganization, OrganizationReader } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { readCommentReactions } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { jsonBytes } from '../shared/bytes.ts';
import type { Stored } from '../table/entity.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import type { Comment } from './rules/comments.ts';
import { CommentEntity, readThreads, ThreadEntity, type ThreadKey, threadNotFound, ThreadReader } from './threads.ts';
import { commentFilter } from './visibleThreads.ts';

export interface CommentWithReactions {
  readonly comment: Stored<Comment>;
  readonly reactions: readonly Reaction[];
}

export interface CommentListing {
  readonly userIds?: readonly string[] | undefined;
  readonly limit: number;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  readonly viewer?: Viewer | undefined;
}

/** The size of a page's comments as JSON. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;
const REACTION_BYTES = 500_000;
const REACTIONS_PER_READ = 300;

export interface NamedThread extends DocumentReference {
  readonly annotationId: string;
}

export interface LocatedThread extends DocumentContext {
  readonly key: ThreadKey;
}

export class CommentPages {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;
  readonly #threads: ThreadReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
    this.#documents = new DocumentReader(table);
    this.#threads = new ThreadReader(table);
  }

  /**
   * Throws INVALID_ARGUMENT for an unknown organization, and NOT_FOUND for an unknown document or thread. For a
   * `viewer`, an unknown thread is PERMISSION_DENIED, like a hidden one, so that ids cannot be guessed.
   */
  async findThread(
    tenant: string,
    { organizationId, documentId, annotationId }: NamedThread,
    viewer: Viewer | undefined,
  ): Promise<LocatedThread> {
    const { organization, content } = await this.#organizations.readWithin(tenant, organizationId, (keys) => {
      const scope = organizationScope(tenant, keys);
      return Promise.all([
        this.#documents.require(scope, documentId),
        findRecordIds(this.#table, scope, [recordIdKey('thread', annotationId, documentId)]),
      ]);
    });
    const [document, [named]] = content;
    const scope = documentScope(organizationScope(tenant, organization), document);
    const position = await inDocument(this.#table, scope, recordIdKey('thread', annotationId, documentId), named);
    if (!position) throw viewer ? accessDenied() : threadNotFound();
    return { organization, document, scope, key: { annotationId, createdAt: position.createdAt } };
  }

  /**
   * Returns a page of comments, ordered by id. A page ends early at about 4 MB, read or returned. With `userIds` or
   * `viewer`, it can be empty although more comments follow.
   */
  async list<V>(
    { scope, key }: LocatedThread,
    listing: CommentListing,
    toResponse: (comment: CommentWithReactions) => V,
  ): Promise<ItemPage<V>> {
    return this.#withThread(scope, key, this.#list(scope, key, listing, toResponse));
  }

  async #list<V>(
    scope: DocumentScope,
    key: ThreadKey,
    { userIds, limit, after, viewer }: CommentListing,
    toResponse: (comment: CommentWithReactions) => V,
  ): Promise<ItemPage<V>> {
    const isReadable = commentFilter(viewer);
    // Each step reads as many comments as all before it. Comments behind the end of a page are read again for the next
    // one, so all pages together read about twice as many comments as the thread has.
    const read = (from: string | undefined) =>
      this.#threads.listComments(scope, key, { after: from, limit: Math.max(limit, commentsRead) });
    const values: V[] = [];
    let [bytes, bytesRead, commentsRead] = [0, 0, 0];
    let last = after;
    for await (const page of pages(read, after)) {
      const selected = page.values.filter(
        (comment) => (userIds?.includes(comment.from.userId) ?? true) && isReadable(comment),
      );
      for await (const commentWithReactions of this.#withReactions(scope, selected)) {
        const value = toResponse(commentWithReactions);
        bytes += jsonBytes(value);
        if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: last };
        values.push(value);
        last = CommentEntity.key({ ...scope, ...commentWithReactions.comment }).SK;
      }
      bytesRead += page.bytes;
      commentsRead += page.values.length;
      if (values.length === limit || bytesRead >= PAGE_BYTES) return { values, next: page.next };
      last = page.next;
    }
    return { values, next: undefined };
  }

  async findByIds(
    { scope, key }: LocatedThread,
    commentIds: readonly number[],
    viewer?: Viewer,
  ): Promise<(CommentWithReactions | undefined)[]> {
    const read = await this.#withThread(scope, key, this.#threads.findComments(scope, key, commentIds));
    const comments = read.filter((comment) => comment !== undefined).filter(commentFilter(viewer));
    const byId = new Map<number, CommentWithReactions>();
    for await (const comment of this.#withReactions(scope, comments)) byId.set(comment.comment.commentId, comment);
    return commentIds.map((commentId) => byId.get(commentId));
  }

  /** Throws NOT_FOUND if the thread has no head, because it is being deleted. */
  async #withThread<T>(scope: DocumentScope, key: ThreadKey, reading: Promise<T>): Promise<T> {
    const [read, thread] = await Promise.all([reading, this.#table.get(ThreadEntity, { ...scope, ...key })]);
    if (!thread) throw threadNotFound();
    return read;
  }

  /** Reads reactions group by group, so a page that ends early does not read those of later groups. */
  async *#withReactions(
    scope: DocumentScope,
    comments: readonly Stored<Comment>[],
  ): AsyncGenerator<CommentWithReactions> {
    for (const group of groupByReactions(comments)) {
      const references = group.flatMap((comment) => comment.reactions ?? []);
      const reactions = (await readCommentReactions(this.#table, scope, references)).values();
      for (const comment of group) {
        const own = (comment.reactions ?? []).map(() => reactions.next().value);
        yield { comment, reactions: limitReactions(own) };
      }
    }
  }
}

function groupByReactions(comments: readonly Stored<Comment>[]): Stored<Comment>[][] {
  const groups: Stored<Comment>[][] = [];
  let room = 0;
  for (const comment of comments) {
    const { length } = comment.reactions ?? [];
    const group = groups.at(-1);
    if (group && length <= room) {
      group.push(comment);
      room -= length;
    } else {
      groups.push([comment]);
      room = REACTIONS_PER_READ - length;
    }
  }
  return groups;
}

function limitReactions(reactions: readonly (Reaction | undefined)[]): Reaction[] {
  let bytes = 0;
  return reactions
    .filter((reaction) => reaction !== undefined)
    .filter((reaction) => (bytes += jsonBytes(reaction)) <= REACTION_BYTES);
}

export const readCommentPages = /* @__PURE__ */ storeCapability(CommentPages, [
  readThreads,
  findOrganization,
  readDocuments,
]);
