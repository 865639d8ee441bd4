import * as z from 'zod';
import { StoredUser } from '../../content/rules/contentUser.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/eventMetadata.ts';
import { Visibility } from '../../directory/rules/visibility.ts';
import { fromJsonFields, pickFields } from '../../shared/jsonFields.ts';
import { AnyObject, defineNamedSchema, defineSchema } from '../../shared/schema.ts';
import { ContextResponse, toContextResponse } from './commentContext.ts';
import { CommentResponse, CommentRow, toCommentResponse, toCommentRow } from './commentResponses.ts';
import {
  involvedUserIds,
  mentionedUserIds,
  storedPosition,
  threadJsonFields,
  threadPlainFields,
  threadTypes,
  type ThreadWithComments,
} from './threads.ts';

export const ThreadResults = /* @__PURE__ */ defineSchema(() =>
  z.object({
    data: z
      .record(
        z.string(),
        z.object({
          success: z.boolean().describe('Whether the thread was added.'),
          annotationId: z.string().describe('The id that the thread has or should have.'),
          commentIds: z
            .array(z.number())
            .describe('The numbers of its comments in the order of the request. Empty if the thread was not added.'),
          message: z.string().describe('Why the thread was not added, or that it was.'),
          findingId: z.string().optional().describe('The `agent.reason.findingId` of its first comment.'),
        }),
      )
      .describe('The result for each thread, by its id.'),
  }),
);

export const ThreadResponse = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    annotationNumber: z
      .int()
      .describe('Counts the threads of the document from 1. A thread that failed leaves a gap.')
      .optional(),
    annotationIndex: z.int().describe('`annotationNumber` minus 1.').optional(),
    type: z.enum(threadTypes).describe('Whether the thread is a proposed change.'),
    commentType: z.string().describe('For clients: how the thread was made.').optional(),
    sourceType: z.enum(['rest-api', 'agent']).describe('`agent` if the thread began with a comment of an agent.'),
    comments: z
      .array(CommentResponse)
      .describe('Comments of the thread, about 1 MB. `hasMoreComments` says whether there are others.'),
    commentCount: z
      .number()
      .describe('How many comments the thread has. With a user token, how many the user may see.'),
    hasMoreComments: z
      .boolean()
      .describe('Whether `/v2/commentannotations/comments/get` returns comments that are missing here.'),
    from: StoredUser.describe('The author of the first comment.'),
    status: AnyObject.describe('The status with its `id`, `name`, `type` and your own fields.'),
    statusUpdatedByUserId: z.string().describe('Who changed the status last, if known.').optional(),
    resolvedByUserId: z.string().describe('Who resolved the thread. Missing while it is open.').optional(),
    assignedTo: StoredUser.describe('The user who should deal with the thread.').optional(),
    priority: z
      .union([z.string(), AnyObject])
      .describe('The id of a priority, or an object of yours with the id, as it was sent.')
      .optional(),
    context: ContextResponse.describe('The access context that readers of the thread need.').optional(),
    visibility: Visibility.describe(
      'Who may see the thread. Missing if everybody may who can read the document.',
    ).optional(),
    location: AnyObject.describe('Where in the document the thread is, as it was sent.').optional(),
    locationId: z
      .string()
      .describe('The key of the location: its `id` as text, otherwise a hash of the location.')
      .optional(),
    targetElement: AnyObject.describe('For clients: the element that the thread is about.').optional(),
    suggestion: AnyObject.describe('The proposed change, with the decision in its `status`.').optional(),
    customList: z.array(AnyObject).describe('Objects of your own, for example labels.').optional(),
    pageInfo: AnyObject.describe('The page of the thread, as it was sent.').optional(),
    ...storedPosition,
    progress: AnyObject.describe('The progress of work that the thread reports, as it was sent.').optional(),
    actions: z.array(AnyObject).describe('Buttons that clients show for the thread, as they were sent.').optional(),
    subscribedUsers: z
      .array(StoredUser)
      .describe('Users who are notified of the thread as its participants are.')
      .optional(),
    unsubscribedUsers: z
      .array(StoredUser)
      .describe(
        'Users who are notified only of mentions, and of the thread when it is assigned to them. They can include its author.',
      )
      .optional(),
    involvedUserIds: z
      .array(z.string())
      .describe('The users who wrote comments, are mentioned in them, or are the assignee.'),
    mentionedUserIds: z.array(z.string()).describe('The users whom comments mention.'),
    createdAt: z.number().describe('When the thread was started, in epoch milliseconds.'),
    lastUpdated: z.number().describe('When the thread, a comment or a reaction last changed, in epoch milliseconds.'),
    metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
  }),
);
export type ThreadResponse = z.output<typeof ThreadResponse>;

export function toThreadResponse(names: ContentNames, { thread, comments, more }: ThreadWithComments): ThreadResponse {
  const { annotationNumber } = thread;
  return {
    ...pickFields(thread, [
      'annotationId',
      'annotationNumber',
      'type',
      'commentType',
      'sourceType',
      'commentCount',
      'from',
      'statusUpdatedByUserId',
      'resolvedByUserId',
      ...threadPlainFields,
      'createdAt',
      'lastUpdated',
    ]),
    ...(fromJsonFields(['status', 'location', 'suggestion', ...threadJsonFields], thread) as Pick<
      ThreadResponse,
      'status' | 'location' | 'suggestion' | (typeof threadJsonFields)[number]
    >),
    annotationIndex: annotationNumber === undefined ? undefined : annotationNumber - 1,
    comments: comments.map((comment) => toCommentResponse(names, comment)),
    hasMoreComments: more,
    context: toContextResponse(thread.context),
    locationId: thread.locationKey,
    involvedUserIds: involvedUserIds(thread),
    mentionedUserIds: mentionedUserIds(thread),
    metadata: recordMetadata(names, thread.metadata),
  };
}

export interface RowParts {
  readonly metadata: boolean;
  readonly pageInfo: boolean;
}

export const ThreadRow = /* @__PURE__ */ defineNamedSchema('CommentAnnotation', () =>
  ThreadResponse.extend({
    comments: z.array(CommentRow).describe(ThreadResponse.shape.comments.description as string),
    context: ThreadResponse.shape.context.unwrap(),
    visibilityConfig: Visibility,
    locationId: ThreadResponse.shape.locationId.unwrap().nullable(),
    customList: ThreadResponse.shape.customList.unwrap(),
    subscribedUsers: ThreadResponse.shape.subscribedUsers.unwrap(),
    unsubscribedUsers: ThreadResponse.shape.unsubscribedUsers.unwrap(),
    subscribedGroups: z.array(AnyObject).describe('Always empty: subscribed groups exist only in clients.'),
    hasDraftComments: z.literal(false).describe('Always false: drafts exist only in clients.'),
    metadata: ThreadResponse.shape.metadata.optional(),
    unread: z
      .boolean()
      .describe(
        'Whether another user has added a comment that the user may see since the user last viewed the thread or wrote in it. Only with `userId` or a user token.',
      )
      .optional(),
    firstUnreadCommentId: z.number().describe('The first of these comments by id, if the thread is unread.').optional(),
  }).describe('A comment thread with comments.'),
);
export type ThreadRow = z.output<typeof ThreadRow>;

export const ThreadRowOrNull = /* @__PURE__ */ defineNamedSchema('CommentAnnotationOrNull', () =>
  ThreadRow.nullable().describe('A comment thread, or null for an unknown id.'),
);

export const ListedThreads = /* @__PURE__ */ defineSchema(() =>
  z
    .union([z.array(ThreadRowOrNull), z.record(z.string(), z.array(ThreadRow))])
    .describe('The threads. With `groupByDocumentId`, lists of threads by document id.'),
);

export function toThreadRow(thread: ThreadResponse, parts: RowParts): ThreadRow {
  return {
    ...thread,
    comments: thread.comments.map(toCommentRow),
    context: thread.context ?? { access: {}, accessFields: [] },
    visibilityConfig: thread.visibility ?? { type: 'public' },
    locationId: thread.locationId ?? null,
    customList: thread.customList ?? [],
    subscribedUsers: thread.subscribedUsers ?? [],
    unsubscribedUsers: thread.unsubscribedUsers ?? [],
    subscribedGroups: [],
    hasDraftComments: false,
    pageInfo: parts.pageInfo ? (thread.pageInfo ?? {}) : undefined,
    metadata: parts.metadata ? thread.metadata : undefined,
  };
}
