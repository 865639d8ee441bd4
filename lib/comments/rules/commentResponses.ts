import * as z from 'zod';
import { StoredUser } from '../../content/rules/contentUser.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/eventMetadata.ts';
import { ReactionResponse } from '../../reactions/rules.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { fromJsonFields, pickFields } from '../../shared/jsonFields.ts';
import { AnyObject, defineNamedSchema, defineSchema, IsoTime } from '../../shared/schema.ts';
import { ContextResponse, toContextResponse } from './commentContext.ts';
import { type Comment, commentJsonFields, commentTextFields } from './comments.ts';

const CommentResult = /* @__PURE__ */ defineNamedSchema('CommentResult', () =>
  z
    .object({
      success: z.boolean().describe('Whether the comment was changed or deleted.'),
      id: z.number().describe('The number of the comment in its thread.'),
      message: z.string().describe('Why the comment stays as it was, or that the call succeeded.'),
    })
    .describe('The result for one comment of a call.'),
);

export const CommentResults = /* @__PURE__ */ defineSchema(() =>
  z.object({
    data: z.record(z.string(), CommentResult).describe('The result for each comment, by its number.'),
  }),
);

export const CommentResponse = /* @__PURE__ */ defineSchema(() =>
  z.object({
    commentId: z.number().describe('The number of the comment in its thread. No number is given twice.'),
    type: z.literal('text').describe('Always `text`.'),
    status: z.enum(['added', 'updated']).describe('`updated` after the first change of the comment.'),
    commentText: z.string().describe('The comment as plain text. Clients must escape it.').optional(),
    commentHtml: z.string().describe('The comment as HTML. It is clean only if it comes from a user token.').optional(),
    from: StoredUser.describe('The author.'),
    to: z.array(StoredUser).describe('Users whom the comment addresses.').optional(),
    taggedUserContacts: z.array(AnyObject).describe('Users whom the comment mentions, as they were sent.').optional(),
    attachments: z.array(AnyObject).describe('Files of the comment, as they were sent.').optional(),
    context: ContextResponse.describe('The access context that readers of the comment need.').optional(),
    agent: AnyObject.describe('The agent that made the comment, and its finding, as they were sent.').optional(),
    progress: AnyObject.describe('The progress of work that the comment reports, as it was sent.').optional(),
    actions: z.array(AnyObject).describe('Buttons that clients show for the comment, as they were sent.').optional(),
    isCommentResolverUsed: z
      .boolean()
      .describe('True if clients load the text from the server of the customer.')
      .optional(),
    isCommentTextAvailable: z.boolean().describe('Whether the text can be shown.').optional(),
    isEdited: z.boolean().describe('Whether the comment was changed.'),
    reactionAnnotationIds: z.array(z.string()).describe('The ids of all reactions on the comment.'),
    createdAt: z.number().describe('When the comment was written, in epoch milliseconds.'),
    lastUpdated: IsoTime.describe('When the comment was last changed, in ISO 8601.'),
    metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
  }),
);
export type CommentResponse = z.output<typeof CommentResponse>;

export function toCommentResponse(names: ContentNames, comment: Comment): CommentResponse {
  return {
    ...pickFields(comment, ['commentId', ...commentTextFields, 'from', 'isEdited', 'createdAt']),
    ...(fromJsonFields(commentJsonFields, comment) as Pick<CommentResponse, (typeof commentJsonFields)[number]>),
    type: 'text',
    status: comment.isEdited ? 'updated' : 'added',
    context: toContextResponse(comment.context),
    reactionAnnotationIds: (comment.reactions ?? []).map(({ id }) => id),
    lastUpdated: isoTime(comment.lastUpdated),
    metadata: recordMetadata(names, comment.metadata),
  };
}

export const CommentRow = /* @__PURE__ */ defineNamedSchema('Comment', () =>
  CommentResponse.extend({
    isDraft: z.literal(false).describe('Always false: drafts exist only in clients.'),
    to: CommentResponse.shape.to.unwrap(),
    toOrganizationUserGroup: z.array(AnyObject).describe('Always empty: groups exist only in clients.'),
    taggedUserContacts: CommentResponse.shape.taggedUserContacts.unwrap(),
    attachments: CommentResponse.shape.attachments.unwrap(),
    recorders: z.array(AnyObject).describe('Always empty: recordings of a comment exist only in clients.'),
    customList: z.array(AnyObject).describe('Always empty: lists of a comment exist only in clients.'),
    isCommentTextAvailable: CommentResponse.shape.isCommentTextAvailable.unwrap(),
  }).describe('A comment of a thread.'),
);
export type CommentRow = z.output<typeof CommentRow>;

export const ReactedCommentRow = /* @__PURE__ */ defineSchema(() =>
  CommentRow.extend({
    reactionAnnotations: z.array(ReactionResponse).describe('The reactions on the comment, up to 500 KB.'),
  }),
);
export type ReactedCommentRow = z.output<typeof ReactedCommentRow>;

export function toCommentRow(comment: CommentResponse): CommentRow {
  const { commentText, commentHtml } = comment;
  return {
    ...comment,
    isDraft: false,
    to: comment.to ?? [],
    toOrganizationUserGroup: [],
    taggedUserContacts: comment.taggedUserContacts ?? [],
    attachments: comment.attachments ?? [],
    recorders: [],
    customList: [],
    isCommentTextAvailable: comment.isCommentTextAvailable ?? (Boolean(commentText) || Boolean(commentHtml)),
  };
}
