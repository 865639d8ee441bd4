import type { PeopleField } from '../app/rules/userRule.ts';
import { AccessChecks } from '../content/accessChecks.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { accessContext, contextAllows } from '../directory/rules/access.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { distinct } from '../shared/collections.ts';
import { type ApiError, invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import type { DataPath } from '../userTokens/rules/actor.ts';
import { findStrangers, strangersMessage } from '../userTokens/rules/people.ts';
import { accessFieldsOf } from './rules/commentContext.ts';
import { type Comment, MAX_COMMENTS } from './rules/comments.ts';
import { matchesFilters, type ThreadFilters } from './rules/threadFilters.ts';
import { participantIds, type Thread, threadAccessOf, type ThreadWithComments, withComments } from './rules/threads.ts';
import { CommentEntity, commentKey, ThreadReader } from './threads.ts';

interface OrganizationOfThreads {
  readonly scope: OrganizationScope;
  readonly organizationId: string;
}

/** Checks visibility and access context. The caller has already checked the access to the document. */
async function findVisible(
  table: Table,
  { scope, organizationId }: OrganizationOfThreads,
  { userId, access }: Viewer,
  threads: readonly Thread[],
  now: number,
): Promise<boolean[]> {
  const organization = { organizationId, internalId: scope.organizationKey };
  const checks = new AccessChecks(table, { scope, organization, now }, userId, access);
  return checks.canSee(threads.map((thread) => ({ thread: threadAccessOf(thread, organizationId) })));
}

export function commentFilter(viewer: Viewer | undefined): (comment: Comment) => boolean {
  if (!viewer) return () => true;
  const allowed = accessContext(viewer.access);
  return ({ context }) => contextAllows({ accessFields: accessFieldsOf(context) }, allowed);
}

export interface ThreadRecord {
  readonly scope: DocumentScope;
  readonly value: ThreadWithComments;
}

/** With a viewer: the head as it is stored, and the readable comments that `value` lacks. */
export interface WholeThread {
  readonly head?: Thread;
  readonly later?: readonly Comment[];
}

const PARALLEL = 4;
const MAX_LATER_BYTES = { thread: 4_000_000, answer: 16_000_000 } as const;

/**
 * Returns the records whose thread the viewer may see, with the comments that the viewer may see. Leaves out threads
 * that match `filters` only because of hidden comments. Without a `viewer`, returns all records unchanged.
 */
export async function onlyVisible<R extends ThreadRecord>(
  table: Table,
  organization: OrganizationOfThreads,
  { viewer, filters, now }: { viewer?: Viewer | undefined; filters: ThreadFilters; now: number },
  records: readonly R[],
): Promise<(R & WholeThread)[]> {
  if (!viewer) return [...records];
  const threads = records.map(({ value }) => value.thread);
  const isVisible = await findVisible(table, organization, viewer, threads, now);
  const isReadable = commentFilter(viewer);
  const reader = new LaterComments(new ThreadReader(table));
  const visible = await inParallel(
    records.filter((_record, index) => isVisible[index]),
    PARALLEL,
    async (record) => {
      const { scope, value } = record;
      const comments = value.comments.filter(isReadable);
      const later = (await reader.read(scope, value)).filter(isReadable);
      const thread = withComments(value.thread, [...comments, ...later]);
      return { ...record, value: { ...value, thread, comments }, head: value.thread, later };
    },
  );
  return visible.filter(({ value }) => matchesFilters(value.thread, filters));
}

/** Reads the comments that an answer does not contain, up to a limit per thread and one for all threads. */
export class LaterComments {
  readonly #reader: ThreadReader;
  #bytesLeft: number = MAX_LATER_BYTES.answer;

  constructor(reader: ThreadReader) {
    this.#reader = reader;
  }

  async read(scope: DocumentScope, { thread, comments, more }: ThreadWithComments): Promise<Comment[]> {
    const most = Math.min(MAX_LATER_BYTES.thread, this.#bytesLeft);
    if (!more || most <= 0) return [];
    this.#bytesLeft -= most;
    const last = comments.at(-1);
    const after = last && CommentEntity.key({ ...scope, ...last }).SK;
    const { values, bytes } = await this.#reader.listComments(scope, thread, {
      limit: MAX_COMMENTS,
      bytes: most,
      after,
    });
    this.#bytesLeft += most - bytes;
    return values;
  }
}

interface NamesRefused {
  readonly at: DataPath;
  readonly message: string;
}

export function namesRefused({ at, message }: NamesRefused): ApiError {
  return invalid({ path: [...at], code: 'unknown_user', message });
}

interface DocumentOfThreads {
  readonly scope: DocumentScope;
  readonly organization: { readonly organizationId: string };
  readonly document: { readonly documentId: string };
}

export class VisibleThreads {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Throws PERMISSION_DENIED if a thread does not exist, is hidden or fails `mayChange`, or if `annotationIds` is
   * undefined. Without a `viewer`, checks nothing.
   */
  async require(
    { scope, organization, document }: DocumentOfThreads,
    viewer: Viewer | undefined,
    annotationIds: readonly string[] | undefined,
    { mayChange = () => true, now }: { readonly mayChange?: (thread: Thread) => boolean; readonly now: number },
  ): Promise<void> {
    if (!viewer) return;
    if (!annotationIds) throw accessDenied();
    const ids = distinct(annotationIds);
    const threads = await this.find({ scope, organization, document }, viewer, ids, now);
    if (threads.length < ids.length || !threads.every(mayChange)) throw accessDenied();
  }

  /** Ids must be distinct. */
  async find(
    { scope, organization: { organizationId }, document: { documentId } }: DocumentOfThreads,
    viewer: Viewer,
    annotationIds: readonly string[],
    now: number,
  ): Promise<Thread[]> {
    if (annotationIds.length === 0) return [];
    const found = await new ThreadReader(this.#table).findByIds(scope, documentId, annotationIds);
    const threads = found.filter((thread) => thread !== undefined);
    const isVisible = await findVisible(this.#table, { scope, organizationId }, viewer, threads, now);
    return threads.filter((_thread, index) => isVisible[index]);
  }

  /** Reads comments (at most 4 MB for a thread, 16 MB in all) only if a named stranger takes part. */
  async findRefusals(
    { scope, organization, document }: DocumentOfThreads,
    viewer: Viewer | undefined,
    annotationIds: readonly string[],
    { data, fields, now }: { readonly data: unknown; readonly fields: readonly PeopleField[]; readonly now: number },
  ): Promise<ReadonlyMap<string, NamesRefused>> {
    if (!viewer || viewer.strangers.size === 0) return new Map();
    const { strangers } = viewer;
    const { organizationId } = organization;
    const threads = await this.find({ scope, organization, document }, viewer, distinct(annotationIds), now);
    const records = threads
      .filter((thread) => !participantIds(thread).isDisjointFrom(strangers))
      .map((thread) => ({ scope, value: { thread, comments: [], more: true } }));
    // Otherwise the answer would tell who takes part in hidden comments.
    const seen = await onlyVisible(this.#table, { scope, organizationId }, { viewer, filters: {}, now }, records);
    const participants = new Map(seen.map(({ value: { thread } }) => [thread.annotationId, participantIds(thread)]));
    return new Map(
      distinct(annotationIds).flatMap((annotationId) => {
        const refused = findStrangers(data, fields, strangers, participants.get(annotationId));
        const message = strangersMessage(refused);
        return message === undefined ? [] : [[annotationId, { at: refused[0]?.at ?? [], message }] as const];
      }),
    );
  }

  /** The caller has checked that the viewer may see the threads. */
  async findComments(
    scope: DocumentScope,
    viewer: Viewer,
    references: readonly { readonly thread: Thread; readonly commentId: number }[],
  ): Promise<Comment[]> {
    const keys = references.map(({ thread, commentId }) => commentKey(scope, thread, commentId));
    const comments = (await this.#table.getMany(CommentEntity, keys)).filter((comment) => comment !== undefined);
    return comments.filter(commentFilter(viewer));
  }
}

export const visibleThreads = /* @__PURE__ */ storeCapability(VisibleThreads, ['BatchGetItem', 'Query']);
