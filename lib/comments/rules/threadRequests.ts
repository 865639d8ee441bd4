import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ContentUser } from '../../content/rules/contentUser.ts';
import { Location } from '../../content/rules/location.ts';
import { type Visibility, VisibilityInput } from '../../directory/rules/visibility.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import {
  defineNamedSchema,
  defineSchema,
  Id,
  list,
  OpenObject,
  optional,
  StoredNumber,
  unchangedObject,
} from '../../shared/schema.ts';
import { importedTimes, Instant } from '../../shared/times.ts';
import { Context } from './commentContext.ts';
import { Actions, Progress } from './commentProgress.ts';
import { commentLists, hasAnyField, oneCommentList, sentComments } from './commentRequests.ts';
import { SentStatus } from './statuses.ts';
import { MAX_THREAD_BYTES, pagePosition, threadTypes } from './threads.ts';

const MAX_SUBSCRIBERS = 50;
const MAX_CUSTOM_LIST_ITEMS = 100;
/** Each replacement can change every comment of a thread. */
const MAX_USER_REPLACEMENTS = 10;

const Suggestion = /* @__PURE__ */ defineSchema(() =>
  unchangedObject(
    z.object({
      status: optional(z.enum(['pending', 'accepted', 'rejected'])).describe(
        'The decision. By default `pending` in a new thread, and the stored decision in a change.',
      ),
    }),
  ),
);

const Priority = /* @__PURE__ */ defineSchema(() =>
  z.union([Id, unchangedObject(z.object({ id: Id.describe('Your own name of the priority.') }))], {
    error: 'must be the id of a priority, or an object with the id',
  }),
);

/** For new and changed threads. */
const fields = /* @__PURE__ */ defineSchema(() => ({
  location: optional(Location).describe('Where in the document the thread is. Requests select by its `id`.'),
  targetElement: optional(OpenObject).describe('For clients: the element that the thread is about. Stored unchanged.'),
  status: optional(SentStatus).describe(
    'The id of a status, an object with the id, or an object with only a type. A new thread is `OPEN` by default.',
  ),
  assignedTo: optional(ContentUser).describe(
    'The user who should deal with the thread. The assignee is notified if the call causes events.',
  ),
  priority: optional(Priority).describe('The id of a priority, or an object of yours with the id.'),
  context: optional(Context).describe('Narrows who may see the thread, also for its author.'),
  suggestion: optional(Suggestion).describe('A proposed change. Other fields than `status` are stored unchanged.'),
  visibility: optional(VisibilityInput).describe(
    'Who may see the thread. By default everybody who may read the document.',
  ),
  visibilityConfig: optional(VisibilityInput).describe('Another name for `visibility`.'),
  subscribedUsers: optional(list(ContentUser, MAX_SUBSCRIBERS, 0)).describe(
    'Users who are notified of the thread as its participants are.',
  ),
  unsubscribedUsers: optional(list(ContentUser, MAX_SUBSCRIBERS, 0)).describe(
    'Users who are notified only of mentions, and of the thread when it is assigned to them. They can include its author.',
  ),
  customList: optional(list(OpenObject, MAX_CUSTOM_LIST_ITEMS, 0)).describe('Objects of your own, for example labels.'),
  pageInfo: optional(OpenObject).describe('The page of the thread. Mails link to its `url`.'),
  ...pagePosition(optional(z.boolean()), optional(StoredNumber)),
  progress: optional(Progress).describe('The progress of work that the thread reports. A change replaces all of it.'),
  actions: optional(Actions).describe('Buttons that clients show for the thread. A change replaces all of them.'),
  metadata: optional(OpenObject).describe(
    'Own fields. Answers and events return them, beside the ids of the API key, organization and document.',
  ),
}));

interface SentVisibility {
  readonly visibility?: Visibility | undefined;
  readonly visibilityConfig?: Visibility | undefined;
}

const oneVisibility = /* @__PURE__ */ defineSchema(() =>
  z.refine<SentVisibility>(
    ({ visibility, visibilityConfig }) =>
      visibility === undefined || visibilityConfig === undefined || isDeepStrictEqual(visibility, visibilityConfig),
    { path: ['visibilityConfig'], error: 'must equal visibility if both are given' },
  ),
);

function withOneVisibility<S extends SentVisibility>({ visibilityConfig, ...sent }: S) {
  return visibilityConfig === undefined ? sent : { ...sent, visibility: visibilityConfig };
}

export const NewThread = /* @__PURE__ */ defineNamedSchema('CommentAnnotationInput', () =>
  z
    .object({
      annotationId: optional(Id).describe('The id of the new thread. By default the service chooses one.'),
      ...commentLists,
      ...fields,
      type: optional(z.enum(threadTypes)).describe(
        'By default `suggestion` if `suggestion` is sent, otherwise `comment`.',
      ),
      commentType: optional(z.enum(['manual', 'chart'])).describe(
        'For clients: how the thread was made. Stored unchanged.',
      ),
      ...importedTimes,
    })
    .check(
      oneCommentList,
      oneVisibility,
      z.refine(
        ({ commentData: _, comments: __, ...thread }) => !isLongerThan(JSON.stringify(thread), MAX_THREAD_BYTES),
        {
          error: `must be at most ${MAX_THREAD_BYTES} bytes as JSON, comments aside`,
        },
      ),
    )
    .transform(({ comments, commentData, ...thread }) => ({
      ...withOneVisibility(thread),
      commentData: sentComments({ commentData, comments }),
    }))
    .describe('A thread to add with its first comments.'),
);
export type NewThread = z.output<typeof NewThread>;

export const ThreadChange = /* @__PURE__ */ defineNamedSchema('CommentAnnotationChange', () =>
  z
    .object({
      ...fields,
      from: optional(ContentUser).describe('A new author. With a user token only the user of the token.'),
      statusUpdatedByUserId: optional(Id).describe(
        'Who changed the status. By default `actionUser`, if the call changes it.',
      ),
      resolvedByUserId: optional(Id).describe(
        'Who resolved the thread. By default the user who made the status terminal.',
      ),
      // The thread's key contains the time.
      createdAt: optional(Instant).describe('Must be the stored creation time, in epoch milliseconds or ISO 8601.'),
      lastUpdated: optional(Instant).describe(
        'The time of this change, in epoch milliseconds or ISO 8601. By default the time of the call.',
      ),
    })
    .check(hasAnyField, oneVisibility)
    .transform(withOneVisibility)
    .describe('The fields that change. Fields that are not sent stay.'),
);
export type ThreadChange = z.output<typeof ThreadChange>;

/** A new user must not be replaced by another replacement, so that a repeated request has the same result. */
export const UserReplacements = /* @__PURE__ */ defineSchema(() =>
  list(
    z.object({
      oldUser: ContentUser.describe('The user who disappears from authors, mentions and assignees.'),
      newUser: ContentUser.describe('The user who takes their place.'),
    }),
    MAX_USER_REPLACEMENTS,
  ).check(({ value, issues }) => {
    const replaced = value.map(({ oldUser }) => oldUser.userId);
    const refuse = (index: number, field: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [index, field], message });
    for (const [index, { oldUser, newUser }] of value.entries()) {
      if (replaced.indexOf(oldUser.userId) !== index) refuse(index, 'oldUser', 'is given twice');
      if (newUser.userId !== oldUser.userId && replaced.includes(newUser.userId))
        refuse(index, 'newUser', 'is replaced by another');
    }
  }),
);
export type UserReplacement = z.output<typeof UserReplacements>[number];
