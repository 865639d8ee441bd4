import { hash } from 'node:crypto';
import * as z from 'zod';
import type { UserRule } from '../app/rules/userRule.ts';
import { CommentId } from '../comments/rules/commentRequests.ts';
import { ContentUser, MAX_INVOLVED_USERS, StoredUser } from '../content/rules/contentUser.ts';
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import { Location, LocationKey, locationKey } from '../content/rules/location.ts';
import {
  changedFieldsWithoutPersonal,
  keepId,
  type Open,
  type RemovedUsers,
  withChanges,
  withoutVisibleUsers,
} from '../content/rules/removedUsers.ts';
import { accessFields } from '../directory/rules/access.ts';
import { Visibility } from '../directory/rules/visibility.ts';
import { notificationLevels } from '../events/rules/recipients.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { definedFields, dict, distinct, distinctBy } from '../shared/collections.ts';
import { fromJsonFields, readJson, toJsonFields } from '../shared/jsonFields.ts';
import {
  AccessContext,
  AnyObject,
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
} from '../shared/schema.ts';

/** In a request, and stored with readers. DynamoDB limits an item to 400 KB. */
const MAX_BYTES = 256 * 1024;
const MAX_STORED_BYTES = 360 * 1024;

export const NotificationId = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .min(1)
    .max(limits.idCharacters)
    .regex(/^[A-Za-z0-9_-]*$/, { error: 'must consist of letters, digits, _ and -' }),
);

/** `userId` always selects the calling user. */
export const ownNotifications: UserRule = {
  needs: 'self',
  on: 'selection',
  actor: [{ path: 'userId', holds: 'userId' }],
};

const serverFields = [
  'actionUser',
  'displayHeadlineMessageTemplate',
  'displayHeadlineMessageTemplateData',
  'displayBodyMessage',
  'displayBodyMessageTemplate',
  'displayBodyMessageTemplateData',
  'notificationSourceData',
  'persistReadForUsers',
];

export const notificationChangesByUsers: UserRule = {
  needs: 'self',
  on: 'selection',
  actor: [
    { path: 'userId', holds: 'userId', keepMissing: true },
    { path: 'notifications.*.readByUserIds', holds: 'userIds', keepMissing: true },
  ],
  refuses: serverFields.map((field) => `notifications.*.${field}`),
  // `refuses` accepts `false`, which would change the field for all other readers.
  omits: ['notifications.*.persistReadForUsers'],
};

export const selectorFields = /* @__PURE__ */ defineSchema(() => ({
  organizationId: Id,
  documentId: optional(Id).describe('Only notifications of this document.'),
  locationId: optional(LocationKey).describe('Only notifications at this location, by the `locationId` of answers.'),
  userId: optional(Id).describe('Only notifications for this user.'),
}));

const changeableFields = /* @__PURE__ */ defineSchema(() => ({
  actionUser: optional(ContentUser).describe('The user who caused the notification.'),
  displayHeadlineMessageTemplate: optional(Text).describe(
    'The headline. Clients replace its `{variable}` placeholders.',
  ),
  displayHeadlineMessageTemplateData: optional(OpenObject).describe(
    'The values of the placeholders in the headline, by name.',
  ),
  displayBodyMessage: optional(Text).describe('The text below the headline.'),
  displayBodyMessageTemplate: optional(Text).describe(
    'The text below the headline with `{variable}` placeholders, which clients replace.',
  ),
  displayBodyMessageTemplateData: optional(OpenObject).describe('The values of the placeholders in the text, by name.'),
  notificationSourceData: optional(OpenObject).describe(
    'Own fields about the cause. With the source `comment`, `annotationId` names the thread, and only users who may see the thread get the notification.',
  ),
}));

const Level = /* @__PURE__ */ defineSchema(() => z.enum(notificationLevels));

export const SettingRow = /* @__PURE__ */ defineSchema(() =>
  z.object({
    config: z
      .object({
        inbox: Level.describe('Which events reach the inbox of the user.'),
        email: Level.describe('Which events are mailed to the user.'),
        slack: Level.describe(
          'Which events the user gets as direct messages in Slack. Missing if it was never set, and then `MINE` counts.',
        ).optional(),
      })
      .describe(
        '`ALL`: all events for the user. `MINE`: events that address the user, such as mentions. `NONE`: no event.',
      ),
    metadata: z
      .object({
        organizationId: z.string(),
        apiKey: z.string().describe('The API key whose data this is.'),
        documentId: z.string().describe('The document. Missing for the levels of the whole organization.').optional(),
        userId: z.string(),
      })
      .describe('For whom and where the levels apply.'),
  }),
);

export const SettingResult = /* @__PURE__ */ defineSchema(() =>
  z.object({
    success: z.boolean().describe('Whether the levels of the user were set.'),
    userId: z.string(),
    documentId: z.string().nullable().describe('The first document of the request. Null if it names none.'),
    message: z.string().describe('Why the levels were not set, or that they were.'),
  }),
);

export const NewNotification = /* @__PURE__ */ defineNamedSchema('NotificationInput', () =>
  z
    .object({
      ...changeableFields,
      actionUser: ContentUser.describe(
        'The user who caused the notification. Name and address are completed from the stored profile.',
      ),
      notifyUsers: list(ContentUser, MAX_INVOLVED_USERS, 0).describe('The users who get the notification.'),
      notifyAll: optional(z.boolean()).describe(
        'Whether everybody with access to the document gets the notification too. By default true.',
      ),
      notificationId: optional(NotificationId).describe(
        'The id of the notification, unique in the organization. By default the service chooses one.',
      ),
      notificationSource: optional(Name).describe('The kind of cause, in words of your own. By default `custom`.'),
      context: optional(
        z.object({
          access: AccessContext.describe(
            'Values by field. Only users whose access context on the document has all of them see the notification.',
          ),
        }),
      ).describe('Narrows who may see the notification.'),
      location: optional(Location).describe(
        'Where in the document the cause is. Calls select notifications by its `id`.',
      ),
      metadata: optional(OpenObject).describe(
        'Own fields. Answers return them, beside the ids of the API key, organization and document.',
      ),
      isNotificationResolverUsed: optional(z.boolean()).describe(
        'True if clients load the texts from your server. Headline and text can then be left out. By default false.',
      ),
      isCrossOrganizationEnabled: optional(z.boolean()).describe(
        'For clients. The service stores it, without effect of its own.',
      ),
    })
    .describe('A notification to add.'),
);
export type NewNotification = z.output<typeof NewNotification>;

/** Requires headline and text, unless code of the customer (a resolver) provides them. */
export const hasTemplates = /* @__PURE__ */ defineSchema(() =>
  z.check<NewNotification>(({ value, issues }) => {
    if (value.isNotificationResolverUsed === true) return;
    for (const field of ['displayHeadlineMessageTemplate', 'displayBodyMessage'] as const) {
      if (value[field] === undefined)
        issues.push({
          code: 'custom',
          input: value,
          path: [field],
          message: 'is required unless isNotificationResolverUsed is true',
        });
    }
  }),
);

export const hasRecipients = /* @__PURE__ */ defineSchema(() =>
  z.refine<NewNotification>(({ notifyAll, notifyUsers }) => notifyAll !== false || notifyUsers.length > 0, {
    path: ['notifyUsers'],
    error: 'must not be empty when notifyAll is false',
  }),
);

export const isSmall = /* @__PURE__ */ defineSchema(() => jsonBytesAtMost(MAX_BYTES));

export const NotificationChange = /* @__PURE__ */ defineNamedSchema('NotificationChange', () =>
  z
    .object({
      id: NotificationId.describe('The notification to change.'),
      ...changeableFields,
      readByUserIds: optional(list(Id, limits.list, 0)).describe(
        'Users who have read the notification. They are added to the earlier ones.',
      ),
      persistReadForUsers: optional(z.boolean()).describe(
        'For clients: whether users who have read the notification keep it in their list.',
      ),
    })
    .describe('A change of one notification. Fields that are not sent stay.'),
);
export type NotificationChange = z.output<typeof NotificationChange>;

const ThreadReference = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    /** Epoch ms. The thread's key contains it. */
    createdAt: z.number(),
    authorId: z.string(),
    /**
     * From the time when the notification got its thread. After the thread is deleted, this and `accessFields` stand
     * for its rules.
     */
    visibility: Visibility.optional(),
    accessFields: z.array(z.string()).optional(),
  }),
);
export type ThreadReference = z.output<typeof ThreadReference>;

/** Fields that can have any JSON value are JSON text. */
export const Notification = /* @__PURE__ */ defineSchema(() =>
  z.object({
    id: z.string().describe('The notification, by your id or the one that the service chose.'),
    notificationSource: z
      .string()
      .describe('The kind of cause. `comment` and `huddle` come from events, `custom` is the default of calls.'),
    notificationSourceData: z.string().optional(),
    actionUser: StoredUser.describe('The user who caused the notification.'),
    displayHeadlineMessageTemplate: z
      .string()
      .describe('The headline. Clients replace its `{variable}` placeholders.')
      .optional(),
    displayHeadlineMessageTemplateData: z.string().optional(),
    displayBodyMessage: z.string().describe('The text below the headline.').optional(),
    displayBodyMessageTemplate: z
      .string()
      .describe('The text below the headline with `{variable}` placeholders, which clients replace.')
      .optional(),
    displayBodyMessageTemplateData: z.string().optional(),
    notifyAll: z.boolean().describe('Whether everybody with access to the document gets the notification.'),
    /** Of the recipients' e-mail addresses, only hashes are stored. */
    notifyUsers: z.array(z.object({ userId: z.string(), emailHash: z.string().optional() })),
    context: z.string().optional(),
    accessFields: z.array(z.string()).optional(),
    location: z.string().optional(),
    locationKey: z.string().optional(),
    metadata: z.string().optional(),
    isNotificationResolverUsed: z
      .boolean()
      .describe('True if clients load the texts from the server of the customer.')
      .optional(),
    isCrossOrganizationEnabled: z.boolean().describe('For clients, as it was sent.').optional(),
    readByUserIds: z.array(z.string()).describe('Users who have read the notification.').optional(),
    persistReadForUsers: z
      .boolean()
      .describe('For clients: whether users who have read the notification keep it in their list.')
      .optional(),
    thread: ThreadReference.optional(),
    documentId: z.string(),
    createdAt: z.number(),
  }),
);
export type Notification = z.output<typeof Notification>;

/** MD5 in hexadecimal: a pseudonym in responses, not a secret. */
export function userHash(text: string): string {
  return hash('md5', text, 'hex');
}

function emailHash(email: string | undefined): string | undefined {
  return email === undefined ? undefined : userHash(email.toLowerCase());
}

const jsonFields = [
  'notificationSourceData',
  'displayHeadlineMessageTemplateData',
  'displayBodyMessageTemplateData',
  'context',
  'location',
  'metadata',
] as const;

export interface NotificationOrigin {
  readonly id: string;
  readonly documentId: string;
  /** Epoch ms. */
  readonly now: number;
  readonly thread?: ThreadReference | undefined;
  /** `field:value` texts, stored if `context` is not sent. */
  readonly accessFields?: readonly string[] | undefined;
}

export function newNotification(
  sent: NewNotification,
  { id, documentId, now, thread, accessFields: required }: NotificationOrigin,
): Notification {
  const { notificationSource = 'custom', notifyAll = true, notifyUsers, context, location } = sent;
  return Notification.parse({
    ...sent,
    ...toJsonFields(jsonFields, sent),
    id,
    notificationSource,
    notifyAll,
    notifyUsers: distinctBy(notifyUsers, ({ userId }) => userId).map(({ userId, email }) => ({
      userId,
      emailHash: emailHash(email),
    })),
    accessFields: context ? accessFields(context.access) : required,
    locationKey: location && locationKey(location),
    thread,
    documentId,
    createdAt: now,
  });
}

/**
 * Fields that are not sent stay. Readers are added to the earlier ones. `thread` is that after the update. Returns
 * `stored` itself if nothing changes.
 */
export function changeNotification(
  stored: Notification,
  { id: _, readByUserIds = [], ...change }: NotificationChange,
  thread: ThreadReference | undefined,
): Notification {
  const readers = distinct([...(stored.readByUserIds ?? []), ...readByUserIds]);
  return withChanges(stored, {
    ...(definedFields({ ...change, ...toJsonFields(jsonFields, change) }) as Partial<Notification>),
    readByUserIds: readers.length > 0 ? readers : undefined,
    thread,
  });
}

export function fitsItem(notification: Notification): boolean {
  return !isLongerThan(JSON.stringify(notification), MAX_STORED_BYTES);
}

interface NotificationSource {
  readonly notificationSource?: string | undefined;
  readonly notificationSourceData?: object | undefined;
}

/** Undefined if the source is not `comment`, or names no thread. */
export function annotationIdOf({
  notificationSource,
  notificationSourceData = {},
}: NotificationSource): string | undefined {
  const { annotationId } = notificationSourceData as { annotationId?: unknown };
  return notificationSource === 'comment' && typeof annotationId === 'string' ? annotationId : undefined;
}

/** Undefined without a valid id. */
export function commentIdOf({ notificationSourceData }: Notification): number | undefined {
  return CommentId.safeParse(readJson<{ commentId?: unknown }>(notificationSourceData)?.commentId).data;
}

export function notifiesUser({ notifyUsers }: Notification, userId: string): boolean {
  return notifyUsers.some((notified) => notified.userId === userId);
}

export const NotificationResponse = /* @__PURE__ */ defineNamedSchema('Notification', () =>
  z
    .object({
      ...Notification.omit({ accessFields: true, locationKey: true, thread: true, documentId: true, createdAt: true })
        .shape,
      notificationSourceData: AnyObject.describe(
        'Fields about the cause, such as the `annotationId` of the thread of a comment.',
      ).optional(),
      displayHeadlineMessageTemplateData: AnyObject.describe(
        'The values of the placeholders in the headline, by name.',
      ).optional(),
      displayBodyMessageTemplateData: AnyObject.describe(
        'The values of the placeholders in the text, by name.',
      ).optional(),
      metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
      notifyUsers: z
        .record(z.string(), z.boolean())
        .describe('The named users, by the MD5 of their e-mail address in lower case. A user token gets only its own.'),
      notifyUsersByUserId: z.record(z.string(), z.boolean()).describe('The named users, by the MD5 of their user id.'),
      context: z
        .object({
          access: AnyObject.describe('The values by field, as they were sent.'),
          accessFields: z.array(z.string()).describe('The same values as texts `field:value`.'),
        })
        .describe('The access context that a reader needs.')
        .optional(),
      location: AnyObject.describe('Where in the document the cause is, as it was sent.').optional(),
      locationId: z
        .string()
        .describe('The key of the location: its `id` as text, otherwise a hash of the location.')
        .optional(),
      timestamp: z.number().describe('When the notification was created, in epoch milliseconds.'),
    })
    .describe('An entry in the inboxes of users.'),
);
export type NotificationResponse = z.output<typeof NotificationResponse>;

/** Placeholders in templates are not replaced. A user (`readerId`) gets no hashes of the addresses of others. */
export function toNotificationResponse(
  { apiKey, organizationId, readerId }: ResponseNames & { readonly readerId?: string | undefined },
  notification: Notification & { readonly _r?: number },
): NotificationResponse {
  const {
    accessFields: required = [],
    locationKey: locationId,
    thread: _thread,
    documentId,
    createdAt,
    notifyUsers,
    _r,
    ...fields
  } = notification;
  const open = fromJsonFields(jsonFields, notification);
  return {
    ...fields,
    ...open,
    metadata: { ...(open.metadata as object), apiKey, organizationId, documentId },
    notifyUsers: dict(
      notifyUsers.flatMap(({ userId, emailHash: key }) =>
        key === undefined || (readerId ?? userId) !== userId ? [] : [[key, true] as const],
      ),
    ),
    notifyUsersByUserId: dict(notifyUsers.map(({ userId }) => [userHash(userId), true] as const)),
    ...(open.context !== undefined && { context: { ...(open.context as object), accessFields: required } }),
    locationId,
    timestamp: createdAt,
  } as NotificationResponse;
}

/** A removed actor keeps only the id. Undefined if no recipient remains. */
export function removeFromNotification(notification: Notification, removed: RemovedUsers): Notification | undefined {
  const { notifyUsers, notifyAll, actionUser, createdAt } = notification;
  if (createdAt > removed.removedAt) return notification;
  const recipients = notifyUsers.filter(({ userId }) => !removed.userIds.has(userId));
  if (recipients.length === 0 && notifyUsers.length > 0 && !notifyAll) return undefined;
  return withChanges(notification, { notifyUsers: recipients, actionUser: keepId(actionUser, removed) });
}

/** Undefined if the notification quotes no comment. */
export function quotedComment({
  thread,
  notificationSourceData,
}: Notification): { annotationId: string; threadCreatedAt: number; commentId: number } | undefined {
  const { commentId, commentText } = readJson<Open>(notificationSourceData) ?? {};
  return thread && typeof commentId === 'number' && typeof commentText === 'string'
    ? { annotationId: thread.annotationId, threadCreatedAt: thread.createdAt, commentId }
    : undefined;
}

/**
 * If `quotes`, the notification quotes a comment of an erased user, and the quote is deleted too. Undefined if an
 * erased user caused the notification, or if no recipient remains.
 */
export function eraseFromNotification(
  notification: Notification,
  removed: RemovedUsers,
  quotes = false,
): Notification | undefined {
  if (notification.createdAt > removed.removedAt) return notification;
  const remaining = removed.userIds.has(notification.actionUser.userId)
    ? undefined
    : removeFromNotification(notification, removed);
  if (!remaining) return undefined;
  const { readByUserIds, thread } = remaining;
  const readers = readByUserIds?.filter((userId) => !removed.userIds.has(userId));
  const erased = withChanges(remaining, {
    readByUserIds: readers?.length === 0 ? undefined : readers,
    // An empty id stands for an erased author.
    thread: thread && {
      ...thread,
      authorId: removed.userIds.has(thread.authorId) ? '' : thread.authorId,
      visibility: withoutVisibleUsers(thread.visibility, removed),
    },
    ...changedFieldsWithoutPersonal(
      remaining,
      [
        'notificationSourceData',
        'displayHeadlineMessageTemplateData',
        'displayBodyMessageTemplateData',
        'location',
        'metadata',
      ],
      removed,
    ),
  });
  return quotes ? withoutQuote(erased) : erased;
}

function withoutQuote(notification: Notification): Notification {
  const { commentText, ...data } = readJson<Open>(notification.notificationSourceData) ?? {};
  if (commentText === undefined) return notification;
  const repeats = notification.displayBodyMessage === commentText;
  return { ...notification, notificationSourceData: JSON.stringify(data), ...(repeats && { displayBodyMessage: '' }) };
}
