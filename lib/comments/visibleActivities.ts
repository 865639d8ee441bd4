import { type ActivityResponse, commentIdOf, threadIdOf } from '../activities/rules.ts';
import { combine } from '../app/capability.ts';
import type { ListedDocument } from '../content/recordListing.ts';
import type { Viewer } from '../content/rules/viewer.ts';
import { accessContext, contextAllows } from '../directory/rules/access.ts';
import { distinct, isObject } from '../shared/collections.ts';
import { visibleThreads } from './visibleThreads.ts';

/**
 * Without a `viewer` or a document, returns all activities. Otherwise leaves out those about hidden or deleted threads
 * and comments. The threads in the other activities lack `commentCount`, `involvedUserIds` and `mentionedUserIds`, in
 * which hidden comments count.
 */
type FindVisibleActivities = (
  listing: { readonly organizationId: string; readonly document: ListedDocument | undefined },
  viewer: Viewer | undefined,
  activities: readonly ActivityResponse[],
  now: number,
) => Promise<ActivityResponse[]>;

export const visibleActivities = /* @__PURE__ */ combine(
  { threads: visibleThreads },
  ({ threads }): FindVisibleActivities =>
    async ({ organizationId, document }, viewer, activities, now) => {
      if (!viewer || !document) return [...activities];
      const threadIds = distinct(activities.flatMap((activity) => threadIdOf(activity) ?? []));
      const { scope, documentId } = document;
      const context = { scope, organization: { organizationId }, document: { documentId } };
      const visible = new Map(
        (await threads.find(context, viewer, threadIds, now)).map((thread) => [thread.annotationId, thread]),
      );
      const references = activities.flatMap((activity) => {
        const [thread, commentId] = [visible.get(threadIdOf(activity) ?? ''), commentIdOf(activity)];
        return thread && commentId !== undefined ? [{ thread, commentId }] : [];
      });
      const comments = await threads.findComments(scope, viewer, references);
      const readable = new Map(comments.map((comment) => [`${comment.commentId} ${comment.annotationId}`, comment]));
      const allowed = accessContext(viewer.access);
      return activities.flatMap((activity) => {
        const threadId = threadIdOf(activity);
        if (threadId === undefined) return [activity];
        const comment = readable.get(`${String(commentIdOf(activity))} ${threadId}`);
        const accessFields = fieldsOfActivity(activity, visible.get(threadId), comment);
        const isVisible = accessFields !== undefined && contextAllows({ accessFields }, allowed);
        return isVisible ? [withoutCommentSums(activity)] : [];
      });
    },
);

/**
 * Returns the access fields of the recorded comment. Undefined if the recorded thread or comment was replaced by
 * another one with its id, or if the caller found none.
 */
export function fieldsOfActivity(
  activity: ActivityResponse,
  thread: Parameters<typeof isAbout<'annotationId'>>[1],
  comment: Parameters<typeof isAbout<'commentId'>>[1],
): string[] | undefined {
  const isCurrent =
    isAbout(activity.entityData, thread, 'annotationId') &&
    (commentIdOf(activity) === undefined || isAbout(activity.entityTargetData, comment, 'commentId'));
  return isCurrent ? fieldsOfComment(activity.entityTargetData) : undefined;
}

/**
 * `recorded` is what the activity recorded. A deleted thread or comment with the same id had another creation time, and
 * other users could see it.
 */
function isAbout<F extends string>(
  recorded: unknown,
  stored: ({ readonly createdAt: number } & Readonly<Record<F, string | number>>) | undefined,
  idField: F,
): boolean {
  if (!stored) return false;
  return (
    !isObject(recorded) ||
    recorded[idField] !== stored[idField] ||
    typeof recorded.createdAt !== 'number' ||
    recorded.createdAt === stored.createdAt
  );
}

function withoutCommentSums(activity: ActivityResponse): ActivityResponse {
  if (!isObject(activity.entityData)) return activity;
  const {
    commentCount: _count,
    involvedUserIds: _involved,
    mentionedUserIds: _mentioned,
    ...thread
  } = activity.entityData;
  return { ...activity, entityData: thread };
}

function fieldsOfComment(comment: unknown): string[] {
  const context = isObject(comment) ? comment.context : undefined;
  const fields = isObject(context) ? context.accessFields : undefined;
  return Array.isArray(fields) ? fields.filter((field) => typeof field === 'string') : [];
}
