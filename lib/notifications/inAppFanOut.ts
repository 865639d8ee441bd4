import * as z from 'zod';
import { building, type Capability } from '../app/capability.ts';
import type { ConfigStore } from '../workspaces/configs/configStore.ts';
import { type NotificationWriter, addNotifications } from './notifications.ts';
import { readNotificationConfig } from '../workspaces/configs/notificationConfig.ts';
import { openTable } from '../table/table.ts';
import { profilesOf, UserEntity } from '../directory/users.ts';
import { Location } from '../content/rules/location.ts';
import { newNotification, type Notification } from './rules.ts';
import { type ContentUser, MOST_INVOLVED, StoredUser } from '../content/rules/user.ts';
import { incompleteActors, withActors } from '../events/rules/actors.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { commentVerbs } from '../workspaces/rules/groupedTriggers.ts';
import type { NotificationConfig } from '../workspaces/rules/notificationConfig.ts';
import { dict } from '../shared/collections.ts';
import { derivedId } from '../shared/ids.ts';
import { AccessContext, optional } from '../shared/schema.ts';
import { type AudienceDeps, audienceRules, type OccurredEvent } from '../events/audience.ts';

/** How much of a comment's text a notification repeats, in UTF-8 bytes. */
const TEXT_BYTES = 4 * 1024;

type Verb = keyof typeof commentVerbs;

const verbOf: ReadonlyMap<string, Verb> = /* @__PURE__ */ new Map(
  Object.entries(commentVerbs).map(([verb, type]) => [type, verb as Verb]),
);

/** What each kind of event says in one line. */
const headlines: Readonly<Record<Verb, string>> = {
  newlyAdded: '{actionUser} commented',
  added: '{actionUser} replied',
  updated: '{actionUser} edited a comment',
  deleted: '{actionUser} deleted a comment',
  approved: '{actionUser} approved a comment',
  assigned: '{actionUser} assigned a comment',
  reactionAdded: '{actionUser} reacted to a comment',
  reactionDeleted: '{actionUser} removed a reaction',
  statusChanged: '{actionUser} changed the status of a comment',
  priorityChanged: '{actionUser} changed the priority of a comment',
  accessModeChanged: '{actionUser} changed who can see a comment',
  accepted: '{actionUser} accepted a comment',
  rejected: '{actionUser} rejected a comment',
  suggestionAccepted: '{actionUser} accepted a suggestion',
  suggestionRejected: '{actionUser} rejected a suggestion',
  customListChanged: '{actionUser} changed the list of a comment',
  subscribed: '{actionUser} subscribed to a comment',
  unsubscribed: '{actionUser} unsubscribed from a comment',
};

const Context = optional(z.object({ access: optional(AccessContext) }));
const Comment = z.object({ commentId: z.number(), commentText: z.string().optional(), context: Context });

/** What a notification needs of an event's data; events that customers publish need not have it. */
const CommentData = z.object({
  actionUser: StoredUser,
  commentAnnotation: z.object({
    annotationId: z.string(),
    type: z.string().optional(),
    location: optional(Location),
    context: Context,
    comments: z.array(Comment).optional(),
  }),
  targetComment: Comment.optional(),
});

/** Whether an event makes in-app notifications: the service is on, and so is the trigger of its verb. */
export function makesNotifications(config: NotificationConfig | undefined, event: string): boolean {
  const verb = verbOf.get(event);
  return (
    verb !== undefined &&
    config?.useNotificationService === true &&
    config.notificationServiceConfig.triggers?.comment?.[verb] === true
  );
}

/**
 * The notifications of a comment event, one per 50 recipients; none of an event without the thread that it is about. The same event
 * makes the same notifications, however often it is delivered.
 */
export function toInAppNotifications(
  { eventId, event, documentId, createdAt, payload }: OccurredEvent,
  recipients: readonly ContentUser[],
): Notification[] {
  const verb = verbOf.get(event);
  const { success, data } = CommentData.safeParse(payload.data);
  const thread = payload.audience?.thread;
  if (!verb || !success || !thread || documentId === undefined) return [];
  const {
    actionUser,
    commentAnnotation: { annotationId, type, location, context, comments },
    targetComment = comments?.[0],
  } = data;
  const { createdAt: threadCreatedAt, authorId, visibility, accessFields } = thread;
  const about = {
    annotationId: thread.annotationId,
    createdAt: threadCreatedAt,
    authorId,
    visibility,
    accessFields: accessFields && [...accessFields],
  };
  // What somebody deleted is not to be read once more.
  const text = verb === 'deleted' ? '' : clipped(targetComment?.commentText ?? '');
  const groups = Array.from({ length: Math.ceil(recipients.length / MOST_INVOLVED) }, (_each, index) =>
    recipients.slice(index * MOST_INVOLVED, (index + 1) * MOST_INVOLVED),
  );
  return groups.map((notifyUsers, index) =>
    newNotification(
      {
        notificationSource: 'comment',
        notificationSourceData: {
          annotationId,
          ...(type && { type }),
          ...(targetComment && { commentId: targetComment.commentId, commentText: text }),
          ...(location && { location }),
        },
        actionUser,
        notifyUsers,
        notifyAll: false,
        displayHeadlineMessageTemplate: headlines[verb],
        displayHeadlineMessageTemplateData: { actionUser },
        displayBodyMessage: text,
        context: contextOf([context, ...(targetComment ? [targetComment.context] : [])]),
        location,
      },
      { id: derivedId('ntf', createdAt, [eventId, index]), documentId, now: createdAt, thread: about },
    ),
  );
}

/** The context of a notification: all that the thread and the comment require. A field that both have gets the values of both. */
function contextOf(
  contexts: readonly z.output<typeof Context>[],
): { access: z.output<typeof AccessContext> } | undefined {
  const [first, ...others] = contexts.map((context) => context?.access).filter((access) => access !== undefined);
  if (!first) return undefined;
  const access = new Map(Object.entries(first));
  for (const [field, values] of others.flatMap((other) => Object.entries(other))) {
    const before = access.get(field);
    access.set(field, before === undefined ? values : [...new Set([before, values].flat())]);
  }
  return { access: dict([...access]) };
}

/** A text cut between two characters. */
function clipped(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, TEXT_BYTES), { stream: true });
}

export interface InAppDeps extends AudienceDeps {
  readonly configs: Pick<ConfigStore<typeof NotificationConfig>, 'get'>;
  readonly notifications: Pick<NotificationWriter, 'add'>;
}

/**
 * Makes the in-app notifications of an event (spec 2), for those whom settings, visibility and access leave. Once more for the same
 * event changes nothing.
 */
export function fanOutInApp({
  table,
  clock,
  configs,
  notifications,
}: InAppDeps): (event: OccurredEvent) => Promise<void> {
  return async (event) => {
    const {
      tenant,
      payload: { audience },
    } = event;
    if (!audience?.thread || !verbOf.has(event.event)) return;
    if (!makesNotifications(await configs.get(tenant), event.event)) return;
    const userIds = recipientsOf(audience, 'inbox', await audienceRules({ table, clock }, tenant, event));
    if (userIds.length === 0) return;
    const users = await table.getMany(
      UserEntity,
      [...userIds, ...incompleteActors(event.payload)].map((userId) => ({ tenant, userId })),
    );
    const recipients = userIds.map((userId, index) => ({ userId, email: users[index]?.email }));
    const completed = { ...event, payload: withActors(event.payload, profilesOf(users)) };
    const { organizationKey, documentKey } = audience.thread;
    for (const notification of toInAppNotifications(completed, recipients))
      await notifications.add({ tenant, organizationKey, documentKey }, notification);
  };
}

/** Make the in-app notifications of events. */
export const inAppFanOut: Capability<(event: OccurredEvent) => Promise<void>> = /* @__PURE__ */ building(
  [addNotifications, readNotificationConfig],
  {
    grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query'] }],
    env: ['TABLE_NAME'],
    open: (env) =>
      fanOutInApp({
        table: openTable(env),
        clock: Date.now,
        configs: readNotificationConfig.open(env),
        notifications: addNotifications.open(env),
      }),
  },
);
