import { AccessChecks } from '../content/accessChecks.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Table } from '../table/table.ts';
import { accessFieldsOf } from './rules/commentContext.ts';
import type { Comment } from './rules/comments.ts';
import { lastSeenAt, mayBeUnread, unreadComments } from './rules/readState.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';
import { ThreadReader } from './threads.ts';
import { readViews } from './threadViews.ts';
import { LaterComments, type ThreadRecord, type WholeThread } from './visibleThreads.ts';

const PARALLEL = 4;

export interface ReadState {
  readonly unread: boolean;
  readonly firstUnreadCommentId?: number | undefined;
}

interface ThreadReading {
  readonly userId: string;
  readonly viewer: Viewer | undefined;
  readonly now: number;
}

/**
 * Returns whether each thread is unread. `records` come from `onlyVisible`. With a `viewer`, they have what this user may
 * see. Otherwise checks which comments the user may see.
 */
export async function findReadStates(
  table: Table,
  { scope, organizationId }: { readonly scope: OrganizationScope; readonly organizationId: string },
  { userId, viewer, now }: ThreadReading,
  records: readonly (ThreadRecord & WholeThread)[],
): Promise<ReadState[]> {
  const [views, documents] = await Promise.all([
    readViews(
      table,
      records.map((record) => ({ scope: record.scope, userId, thread: headOf(record) })),
    ),
    findLiveDocuments(
      new DocumentReader(table),
      scope,
      viewer ? [] : records.map((record) => headOf(record).documentId),
    ),
  ]);
  const organization = { organizationId, internalId: scope.organizationKey };
  const checks = new AccessChecks(table, { scope, organization, now }, userId);
  const findVisible = async (thread: Thread, comments: readonly Comment[]): Promise<Comment | undefined> => {
    if (viewer) return comments[0];
    const document = documents.get(thread.documentId);
    const access = { document, thread: threadAccessOf(thread, organizationId) };
    const isVisible = await checks.canSee(
      comments.map(({ context }) => ({ ...access, accessFields: accessFieldsOf(context) })),
    );
    return document && comments.find((_comment, index) => isVisible[index]);
  };
  const reader = new LaterComments(new ThreadReader(table));
  return inParallel(records, PARALLEL, async (record, index) => {
    const { scope, value, later } = record;
    const head = headOf(record);
    const comments = [...value.comments, ...(later ?? [])];
    const seenAt = lastSeenAt(head, userId, views[index], comments);
    let first = await findVisible(head, unreadComments(comments, userId, seenAt));
    if (!first && value.more && !later && mayBeUnread(head, userId, seenAt)) {
      const others = await reader.read(scope, value);
      first = await findVisible(head, unreadComments(others, userId, lastSeenAt(head, userId, seenAt, others)));
    }
    return { unread: first !== undefined, firstUnreadCommentId: first?.commentId };
  });
}

function headOf({ head, value }: ThreadRecord & WholeThread): Thread {
  return head ?? value.thread;
}
