import * as z from 'zod';
import { ContentUser, MAX_INVOLVED_USERS } from '../../content/rules/contentUser.ts';
import {
  defineNamedSchema,
  defineSchema,
  Id,
  jsonBytesAtMost,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  unchangedObject,
  withFieldRule,
} from '../../shared/schema.ts';
import { importedTimes } from '../../shared/times.ts';
import { Context } from './commentContext.ts';
import { Actions, Progress } from './commentProgress.ts';
import { hasContent, MAX_COMMENT_BYTES } from './comments.ts';
import { mentionedBy, type Open, TaggedUser } from './taggedUsers.ts';

/**
 * A comment and the involvement of its author are two of the 100 operations of a transaction. Two more write the
 * thread, and its id or the record of the addition.
 */
const MAX_COMMENTS_PER_CALL = 49;

const MAX_ATTACHMENTS = 50;

export const CommentId = /* @__PURE__ */ defineSchema(() => z.int().min(0));

/** At most 15 digits. Sort keys have room for 16 digits, so generated ids can follow the largest one. */
const ChosenCommentId = /* @__PURE__ */ defineSchema(() => CommentId.max(999_999_999_999_999));

export const commentSelectors = /* @__PURE__ */ defineSchema(() => ({
  organizationId: Id,
  documentId: Id,
  annotationId: Id,
  commentIds: optional(list(CommentId, limits.list)),
  userIds: optional(list(Id, limits.list)).describe(
    'Only the comments of these authors. If `commentIds` is sent too, a comment must match both fields.',
  ),
}));

const DocumentedAgent = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      agentSource: Name.describe(
        '`external` for an agent of your own. `svc`, or the name of the service, for an agent that the service stores.',
      ),
      agentId: Id.describe('The agent: your own id, or that of `/v2/agents/create`.'),
      executionId: optional(Id).describe(
        'The run of the agent that made the comment. `/v2/commentannotations/get` filters by it.',
      ),
      agentType: optional(Name).describe('The kind of agent, in words of your own.'),
      agentName: optional(Name).describe('The name that users see. Required for external agents.'),
      url: optional(z.string().max(2_048)).describe('The page that the agent read. `agentUrls` selects threads by it.'),
      reason: z
        .object({
          title: Text.min(1).describe('The finding in a few words.'),
          description: Text.describe('The finding in full.'),
          severity: Name.describe('How serious the finding is, in words of your own.'),
          findingId: optional(Id).describe('Your id of the finding. The answer of the call returns it.'),
          findingType: optional(z.enum(['text', 'pin', 'page'])).describe(
            'Whether the finding is about a text, a point or a whole page.',
          ),
          confidence: optional(z.number().min(0).max(100)).describe('How sure the agent is, in percent.'),
          source: optional(z.enum(['instructions', 'knowledge'])).describe(
            'Whether the finding follows from instructions or from stored knowledge.',
          ),
        })
        .describe('What the agent found.'),
    })
    .check(
      z.refine(({ agentSource, agentName }) => agentSource !== 'external' || agentName !== undefined, {
        path: ['agentName'],
        error: 'is required for external agents',
      }),
    )
    .describe('The agent that made the comment, with its finding. Other fields are stored unchanged.'),
);

const Agent = /* @__PURE__ */ defineNamedSchema('CommentAgentInput', () => unchangedObject(DocumentedAgent));

/** `svc` also stands for the name of the service. */
export function agentSourceOf(agentSource: string): 'svc' | 'external' {
  return agentSource === 'external' ? 'external' : 'svc';
}

export function parseAgent(agent: Open): z.output<typeof DocumentedAgent> {
  return DocumentedAgent.parse(agent);
}

/** For new and changed comments. */
const fields = /* @__PURE__ */ defineSchema(() => ({
  commentText: optional(Text).describe('The comment as plain text. Clients must escape it.'),
  commentHtml: optional(Text).describe(
    'The comment as HTML. From user tokens it is cleaned. From API keys it is stored as it was sent.',
  ),
  to: optional(list(ContentUser, MAX_INVOLVED_USERS, 0)).describe(
    'Users whom the comment addresses. They are notified like mentioned users.',
  ),
  taggedUserContacts: optional(list(TaggedUser, MAX_INVOLVED_USERS, 0)).describe(
    'Users whom the comment mentions. They are notified if the comment causes an event.',
  ),
  attachments: optional(list(OpenObject, MAX_ATTACHMENTS, 0)).describe(
    'Files of the comment, described by objects of your own. The service stores no files.',
  ),
  context: optional(Context).describe('Narrows who may see the comment, also for its author.'),
  agent: optional(Agent).describe('The agent that made the comment, and its finding. Refused with a user token.'),
  progress: optional(Progress).describe('The progress of work that the comment reports. A change replaces all of it.'),
  actions: optional(Actions).describe('Buttons that clients show for the comment. A change replaces all of them.'),
  isCommentResolverUsed: optional(z.boolean()).describe(
    'True if you store the text yourself, and clients load it from your server. By default false.',
  ),
  isCommentTextAvailable: optional(z.boolean()).describe(
    'Whether the text can be shown. By default it is true if the service stores a text.',
  ),
  metadata: optional(OpenObject).describe(
    'Own fields. Answers and events return them, beside the ids of the API key, organization and document.',
  ),
}));

interface MentioningComment {
  readonly from?: ContentUser | undefined;
  readonly to?: readonly ContentUser[] | undefined;
  readonly taggedUserContacts?: readonly Open[] | undefined;
}

const isSmall = /* @__PURE__ */ defineSchema(() => jsonBytesAtMost(MAX_COMMENT_BYTES));
const involvesFew = /* @__PURE__ */ defineSchema(() =>
  z.refine<MentioningComment>(
    ({ from, to, taggedUserContacts }) =>
      mentionedBy(to, taggedUserContacts, from ? [from.userId] : []).length <= MAX_INVOLVED_USERS,
    {
      path: ['taggedUserContacts'],
      error: `must not involve more than ${MAX_INVOLVED_USERS} users, together with from and to`,
    },
  ),
);

export const NewComment = /* @__PURE__ */ defineNamedSchema('CommentInput', () =>
  z
    .object({
      commentId: optional(ChosenCommentId).describe(
        'The number of the comment in its thread. By default the next number. It must not be in use.',
      ),
      ...fields,
      from: ContentUser.describe('The author. With a user token always the user of the token.'),
      ...importedTimes,
      triggerNotification: optional(z.boolean()).describe(
        'Whether the comment causes an event, which reaches webhooks, mails and inboxes. By default false.',
      ),
      triggerActivities: optional(z.boolean()).describe(
        'Whether the comment writes an activity, if activities are enabled. By default false.',
      ),
    })
    .check(
      isSmall,
      involvesFew,
      withFieldRule(
        'anyOf',
        ['commentText', 'commentHtml', 'attachments', 'isCommentResolverUsed'],
        z.refine(hasContent, {
          path: ['commentText'],
          error: 'must be given, or commentHtml, an attachment or isCommentResolverUsed',
        }),
      ),
    )
    .describe('A comment to add.'),
);
export type NewComment = z.output<typeof NewComment>;

export const NewComments = /* @__PURE__ */ defineSchema(() =>
  list(NewComment, MAX_COMMENTS_PER_CALL).check(({ value, issues }) => {
    const seen = new Set<number>();
    for (const [index, { commentId }] of value.entries()) {
      if (commentId !== undefined && seen.has(commentId))
        issues.push({ code: 'custom', input: value, path: [index, 'commentId'], message: 'is given twice' });
      if (commentId !== undefined) seen.add(commentId);
    }
  }),
);

/** `oneCommentList` requires exactly one of the two. */
export const commentLists = /* @__PURE__ */ defineSchema(() => ({
  commentData: optional(NewComments).describe('The comments to add, in their order.'),
  comments: optional(NewComments).describe('Another name for `commentData`.'),
}));

interface CommentLists {
  readonly commentData?: NewComment[] | undefined;
  readonly comments?: NewComment[] | undefined;
}

export const oneCommentList = /* @__PURE__ */ defineSchema(() =>
  withFieldRule(
    'oneOf',
    ['commentData', 'comments'],
    z.refine<CommentLists>(({ commentData, comments }) => (commentData === undefined) !== (comments === undefined), {
      path: ['commentData'],
      error: 'must be given, or comments, and not both',
    }),
  ),
);

export function sentComments({ commentData, comments }: CommentLists): NewComment[] {
  return commentData ?? comments ?? [];
}

export const hasAnyField = /* @__PURE__ */ defineSchema(() =>
  z.refine<object>((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must have at least one field that can be changed',
  }),
);

export const CommentChange = /* @__PURE__ */ defineNamedSchema('CommentChange', () =>
  z
    .object({
      ...fields,
      from: optional(ContentUser).describe('A new author. With a user token only the user of the token.'),
    })
    .check(isSmall, involvesFew, hasAnyField)
    .describe('The fields that change. Fields that are not sent stay.'),
);
export type CommentChange = z.output<typeof CommentChange>;
