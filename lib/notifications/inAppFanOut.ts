import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { completeActors, incompleteActors } from '../content/rules/actors.ts';
import { type ContentUser, MAX_INVOLVED_USERS } from '../content/rules/contentUser.ts';
import { Location } from '../content/rules/location.ts';
import { type UserWritten, withoutForeignLinks, withoutForeignUrls } from '../content/rules/userLinks.ts';
import { findUsers, profilesOf } from '../directory/users.ts';
import type { AudienceThread, EventPayload } from '../events/rules/payload.ts';
import { recipientsOf } from '../events/rules/recipients.ts';
import { dict, slicesOf } from '../shared/collections.ts';
import { derivedId } from '../shared/ids.ts';
import { readOnce } from '../shared/readOnce.ts';
import { AccessContext, optional } from '../shared/schema.ts';
import { BatchReader } from '../table/batchReader.ts';
import { tableWith } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { NotificationConfigEntity } from '../workspaces/configs/notificationConfig.ts';
import { commentVerbs, huddleVerbs } from '../workspaces/rules/groupedTriggers.ts';
import type { NotificationConfig } from '../workspaces/rules/notificationConfig.ts';
import {
  type AudienceDeps,
  type EventConsumer,
  type EventLocation,
  type OccurredEvent,
  readEventLocation,
  readRecipientRules,
  readUserWritten,
} from './audience.ts';
import { addNotifications, type NotificationWriter } from './notifications.ts';
import { type NewNotification, newNotification, type Notification, type ThreadReference } from './rules.ts';

/** Bytes of UTF-8. */
const TEXT_BYTES = 4 * 1024;

type Verb = keyof typeof commentVerbs | keyof typeof huddleVerbs;

const verbOf: ReadonlyMap<string, Verb> = /* @__PURE__ */ new Map(
  Object.entries({ ...commentVerbs, ...huddleVerbs }).map(([verb, type]) => [type, verb as Verb]),
);
const isHuddle = (verb: Verb) => verb in huddleVerbs;

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
  created: '{actionUser} started a huddle',
  join: '{actionUser} joined a huddle',
};

const Context = optional(z.object({ access: optional(AccessContext) }));
const Text = z.string().optional().catch(undefined);
const Actor = z.object({
  userId: z.string(),
  name: Text,
  email: Text,
  photoUrl: Text,
  color: Text,
  textColor: Text,
  initial: Text,
  type: Text,
  plan: Text,
});
const Comment = z.object({ commentId: z.number().optional().catch(undefined), commentText: Text, context: Context });

/** An event that a customer published can have any data. An invalid access context prevents the notification. */
const CommentData = z.object({
  actionUser: Actor,
  commentAnnotation: z.object({
    annotationId: z.string(),
    type: Text,
    location: optional(Location).catch(undefined),
    context: Context,
    comments: optional(z.array(Comment)),
  }),
  targetComment: optional(Comment),
});

/** Other fields, apart from `metadata` and `notifyUsers`, are the publisher's own. */
const HuddleData = z.looseObject({ actionUser: Actor });

export function createsNotifications(config: NotificationConfig | undefined, event: string): boolean {
  const verb = verbOf.get(event);
  return (
    verb !== undefined &&
    config?.useNotificationService === true &&
    config.notificationServiceConfig.triggers?.[isHuddle(verb) ? 'huddle' : 'comment']?.[verb] === true
  );
}

/** One for each group of at most 50 recipients. The ids derive from the event. */
export function toInAppNotifications(
  { eventId, event, documentId, createdAt, payload }: OccurredEvent,
  recipients: readonly ContentUser[],
  written?: UserWritten,
): Notification[] {
  const verb = verbOf.get(event);
  const { audience } = payload;
  const content = verb && (isHuddle(verb) ? huddleContent(payload) : commentContent(verb, payload, written));
  if (!content || documentId === undefined) return [];
  return slicesOf(recipients, MAX_INVOLVED_USERS).map((notifyUsers, index) =>
    newNotification(
      {
        ...content,
        notifyUsers,
        notifyAll: false,
        displayHeadlineMessageTemplate: headlines[verb],
        displayHeadlineMessageTemplateData: { actionUser: content.actionUser },
      },
      {
        id: derivedId('ntf', createdAt, [eventId, index]),
        documentId,
        now: createdAt,
        ...(audience?.thread && { thread: referenceTo(audience.thread) }),
        accessFields: audience?.accessFields,
      },
    ),
  );
}

type Content = Omit<NewNotification, 'notifyUsers'>;

function commentContent(
  verb: Verb,
  { data: sent, audience }: EventPayload,
  written: UserWritten | undefined,
): Content | undefined {
  const { success, data } = CommentData.safeParse(sent);
  if (!success || !audience?.thread) return undefined;
  const {
    actionUser,
    commentAnnotation: { annotationId, type, location: sentLocation, context, comments },
    targetComment = comments?.[0],
  } = data;
  // The notification of a deletion must not repeat the deleted text.
  const whole = verb === 'deleted' ? '' : clipText(targetComment?.commentText ?? '');
  const isByUser = targetComment?.commentId === undefined || written?.comments.includes(targetComment.commentId);
  const text = written && isByUser ? withoutForeignLinks(whole, written.domains) : whole;
  const location =
    written?.thread.includes('location') && sentLocation
      ? withoutForeignUrls(sentLocation, written.domains)
      : sentLocation;
  return {
    notificationSource: 'comment',
    notificationSourceData: {
      annotationId,
      ...(type && { type }),
      ...(targetComment && { commentId: targetComment.commentId, commentText: text }),
      ...(location && { location }),
    },
    actionUser,
    displayBodyMessage: text,
    context: contextOf([context, ...(targetComment ? [targetComment.context] : [])]),
    location,
  };
}

function huddleContent({ data: sent }: EventPayload): Content | undefined {
  const { success, data } = HuddleData.safeParse(sent);
  if (!success) return undefined;
  const { actionUser, metadata: _metadata, notifyUsers: _notifyUsers, ...own } = data;
  return { notificationSource: 'huddle', notificationSourceData: own, actionUser, displayBodyMessage: '' };
}

function referenceTo({ annotationId, createdAt, authorId, visibility, accessFields }: AudienceThread): ThreadReference {
  return { annotationId, createdAt, authorId, visibility, accessFields: accessFields && [...accessFields] };
}

/** All fields of the contexts of thread and comment, with all their values. */
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

/** At most 4 KB. Never splits a character. */
function clipText(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, TEXT_BYTES), { stream: true });
}

async function readHuddleLocation(table: Table, event: OccurredEvent): Promise<EventLocation | undefined> {
  const verb = verbOf.get(event.event);
  return verb && isHuddle(verb) ? readEventLocation(table, event) : undefined;
}

function keysOf({
  organization,
  document,
}: EventLocation): Pick<DocumentScope, 'organizationKey' | 'documentKey'> | undefined {
  return document && { organizationKey: organization.internalId, documentKey: document.internalId };
}

export interface InAppDeps extends AudienceDeps {
  readonly notifications: Pick<NotificationWriter, 'add'>;
}

/**
 * Makes a consumer for one batch, which reads the configuration of each tenant once. Notifies recipients who have
 * access and whose settings allow it. An event that is consumed again adds no notification twice.
 */
export function fanOutInApp({ table, clock, notifications }: InAppDeps): () => EventConsumer {
  return () => {
    const configOf = readOnce((tenant) => BatchReader.of(table).get(NotificationConfigEntity, { tenant }));
    const concerns: EventConsumer['concerns'] = async ({ tenant, event }) =>
      verbOf.has(event) && createsNotifications(await configOf(tenant), event);
    const consume: EventConsumer['consume'] = async (event) => {
      const {
        tenant,
        payload: { audience },
      } = event;
      if (!audience || !(await concerns(event))) return undefined;
      const location = audience.thread ? undefined : await readHuddleLocation(table, event);
      const keys = audience.thread ?? (location && keysOf(location));
      if (!keys) return undefined;
      const rules = await readRecipientRules({ table, clock }, tenant, event, location);
      const userIds = recipientsOf(audience, 'inbox', rules);
      if (userIds.length === 0) return undefined;
      const users = await findUsers(table, tenant, [...userIds, ...incompleteActors(event.payload)]);
      const recipients = userIds.map((userId, index) => ({ userId, email: users[index]?.email }));
      const { documentId } = rules;
      const completed = { ...event, documentId, payload: completeActors(event.payload, profilesOf(users)) };
      const { organizationKey, documentKey } = keys;
      const written = await readUserWritten(table, event);
      for (const notification of toInAppNotifications(completed, recipients, written))
        await notifications.add({ tenant, organizationKey, documentKey }, notification);
      return undefined;
    };
    return { concerns, consume };
  };
}

export const inAppFanOut: Capability<() => EventConsumer> = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']),
    notifications: addNotifications,
  },
  (parts) => fanOutInApp({ ...parts, clock: Date.now }),
);
