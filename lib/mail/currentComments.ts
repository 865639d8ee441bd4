import { type Comment, readList } from '../comments/rules/comments.ts';
import { CommentEntity, commentKey } from '../comments/threads.ts';
import type { UserWritten } from '../content/rules/userLinks.ts';
import type { EventPayload } from '../events/rules/payload.ts';
import { type OccurredEvent, readUserWritten } from '../notifications/audience.ts';
import { isObject } from '../shared/collections.ts';
import type { Table } from '../table/table.ts';

type Json = Readonly<Record<string, unknown>>;

export interface CurrentEvent {
  readonly event: OccurredEvent;
  readonly written: UserWritten | undefined;
}

/**
 * In the order of the events. A mail can wait long, so it quotes a comment that was edited meanwhile as it is now. A
 * deletion has no quote, and a reduced event no text.
 */
export async function withCurrentComments(
  table: Table,
  tenant: string,
  events: readonly OccurredEvent[],
): Promise<CurrentEvent[]> {
  const quoted = events.map(quotedKeys);
  const stored = (await table.getMany(CommentEntity, quoted.flat())).values();
  const edited = quoted.map((keys) =>
    keys.flatMap(() => {
      const comment = stored.next().value;
      return comment?.isEdited ? [comment] : [];
    }),
  );
  return Promise.all(
    events.map(async (event, index) => {
      const payload = withComments(event.payload, edited[index] ?? []);
      return { event: { ...event, payload }, written: await readUserWritten(table, { tenant, payload }) };
    }),
  );
}

function quotedKeys({ tenant, event, payload: { audience, data } }: OccurredEvent) {
  const thread = audience?.thread;
  if (!thread || event === 'comment.delete' || data.truncated === true) return [];
  const ids = commentsIn(data).flatMap(({ commentId }) => (typeof commentId === 'number' ? [commentId] : []));
  return [...new Set(ids)].map((commentId) => commentKey({ tenant, ...thread }, thread, commentId));
}

function commentsIn({ commentAnnotation, targetComment }: Json): Json[] {
  const ofThread = isObject(commentAnnotation) ? commentAnnotation.comments : undefined;
  return [targetComment, ...(Array.isArray(ofThread) ? (ofThread as unknown[]) : [])].filter(isObject);
}

function withComments(payload: EventPayload, edited: readonly Comment[]): EventPayload {
  const { audience, data } = payload;
  if (!audience || edited.length === 0) return payload;
  const byId = new Map<unknown, Comment>(edited.map((comment) => [comment.commentId, comment]));
  const replace = (sent: unknown): unknown => {
    const comment = isObject(sent) ? byId.get(sent.commentId) : undefined;
    return comment ? { ...(sent as Json), ...contentOf(comment) } : sent;
  };
  const { commentAnnotation: thread, targetComment } = data;
  const byUsers = edited.flatMap(({ commentId, userFields }) => (userFields ? [commentId] : []));
  const written = { thread: [], ...audience.userWritten };
  const comments = [...new Set([...(audience.userWritten?.comments ?? []), ...byUsers])];
  return {
    ...payload,
    data: {
      ...data,
      ...(targetComment !== undefined && { targetComment: replace(targetComment) }),
      ...(isObject(thread) &&
        Array.isArray(thread.comments) && {
          commentAnnotation: { ...thread, comments: thread.comments.map(replace) },
        }),
    },
    audience: {
      ...audience,
      ...((audience.userWritten || byUsers.length > 0) && { userWritten: { ...written, comments } }),
    },
  };
}

function contentOf({ commentText, commentHtml, to, taggedUserContacts }: Comment): Json {
  return { commentText, commentHtml, to: readList(to), taggedUserContacts: readList(taggedUserContacts) };
}
