import { hash } from 'node:crypto';
import * as z from 'zod';
import { CommentId } from '../comments/rules/comments.ts';
import { ContentUser, MAX_INVOLVED_USERS, StoredUser } from '../content/rules/contentUser.ts';
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import { Location, LocationKey, locationKey } from '../content/rules/location.ts';
import { Visibility } from '../content/rules/visibility.ts';
import { accessFields } from '../directory/rules/access.ts';
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
import type { UserRule } from '../userTokens/rules/userRule.ts';

/** The largest size of a notification in a request, and of a stored notification, in bytes. DynamoDB limits an item to 400 KB. */
const MAX_BYTES = 256 * 1024;
const MAX_STORED_BYTES = 360 * 1024;

/** The id of a notification: letters, digits, `_` and `-`. */
export const NotificationId = /* @__PURE__ */ defineSchema(() =>
  z
    .string()
    .min(1)
    .max(limits.idCharacters)
    .regex(/^[A-Za-z0-9_-]*$/, { error: 'must consist of letters, digits, _ and -' }),
);

/** Users may read their own notifications. `userId` always selects the calling user. */
export const ownNotifications: UserRule = {
  needs: 'self',
  on: 'selection',
  actor: [{ path: 'userId', holds: 'userId' }],
};

/** The fields of a notification that only servers may change. */
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

/** Users may mark their own notifications as read. */
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

/** The fields by which requests select notifications, besides their ids. */
export const selectorFields = /* @__PURE__ */ defineSchema(() => ({
  organizationId: Id,
  documentId: optional(Id),
  locationId: optional(LocationKey),
  userId: optional(Id),
}));

/** The fields of a notification that an update can change. */
const changeableFields = /* @__PURE__ */ defineSchema(() => ({
  actionUser: optional(ContentUser),
  /** A text with `{variable}` placeholders, which clients replace. */
  displayHeadlineMessageTemplate: optional(Text),
  displayHeadlineMessageTemplateData: optional(OpenObject),
  displayBodyMessage: optional(Text),
  displayBodyMessageTemplate: optional(Text),
  displayBodyMessageTemplateData: optional(OpenObject),
  notificationSourceData: optional(OpenObject),
}));

/** A notification to add, as a request sends it. */
export const NewNotification = /* @__PURE__ */ defineNamedSchema('NotificationInput', () =>
  z.object({
    ...changeableFields,
    actionUser: ContentUser,
    notifyUsers: list(ContentUser, MAX_INVOLVED_USERS, 0),
    /** True if everybody with access to the document is a recipient, besides the users in `notifyUsers`. The default is true. */
    notifyAll: optional(z.boolean()),
    notificationId: optional(NotificationId),
    notificationSource: optional(Name),
    context: optional(z.object({ access: AccessContext })),
    location: optional(Location),
    metadata: optional(OpenObject),
    isNotificationResolverUsed: optional(z.boolean()),
    isCrossOrganizationEnabled: optional(z.boolean()),
  }),
);
export type NewNotification = z.output<typeof NewNotification>;

/** Requires the templates, unless code of the customer (a resolver) provides the texts. */
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

/** Requires at least one recipient. */
export const hasRecipients = /* @__PURE__ */ defineSchema(() =>
  z.refine<NewNotification>(({ notifyAll, notifyUsers }) => notifyAll !== false || notifyUsers.length > 0, {
    path: ['notifyUsers'],
    error: 'must not be empty when notifyAll is false',
  }),
);

export const isSmall = /* @__PURE__ */ defineSchema(() => jsonBytesAtMost(MAX_BYTES));

/** A change of one notification. */
export const NotificationChange = /* @__PURE__ */ defineNamedSchema('NotificationChange', () =>
  z.object({
    id: NotificationId,
    ...changeableFields,
    /** User ids of readers. They are added to the earlier readers. */
    readByUserIds: optional(list(Id, limits.list, 0)),
    /** True if users who have read the notification keep it in their list. */
    persistReadForUsers: optional(z.boolean()),
  }),
);
export type NotificationChange = z.output<typeof NotificationChange>;

/** The thread that a notification with the source `comment` is about. */
const ThreadReference = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    /** The creation time of the thread in epoch ms. The thread's key contains it. */
    createdAt: z.number(),
    authorId: z.string(),
    /**
     * The visibility of the thread when the notification was created. After the thread is deleted, this field and `accessFields`
     * decide who may see the notification.
     */
    visibility: Visibility.optional(),
    accessFields: z.array(z.string()).optional(),
  }),
);
export type ThreadReference = z.output<typeof ThreadReference>;

/** A stored notification. Fields that can have any JSON value are JSON text. */
export const Notification = /* @__PURE__ */ defineSchema(() =>
  z.object({
    id: z.string(),
    notificationSource: z.string(),
    notificationSourceData: z.string().optional(),
    actionUser: StoredUser,
    displayHeadlineMessageTemplate: z.string().optional(),
    displayHeadlineMessageTemplateData: z.string().optional(),
    displayBodyMessage: z.string().optional(),
    displayBodyMessageTemplate: z.string().optional(),
    displayBodyMessageTemplateData: z.string().optional(),
    notifyAll: z.boolean(),
    /** The users who are notified. Of their e-mail addresses, only hashes are stored. */
    notifyUsers: z.array(z.object({ userId: z.string(), emailHash: z.string().optional() })),
    context: z.string().optional(),
    accessFields: z.array(z.string()).optional(),
    location: z.string().optional(),
    locationKey: z.string().optional(),
    metadata: z.string().optional(),
    isNotificationResolverUsed: z.boolean().optional(),
    isCrossOrganizationEnabled: z.boolean().optional(),
    readByUserIds: z.array(z.string()).optional(),
    persistReadForUsers: z.boolean().optional(),
    thread: ThreadReference.optional(),
    /** The document id that the customer chose. */
    documentId: z.string(),
    createdAt: z.number(),
  }),
);
export type Notification = z.output<typeof Notification>;

/**
 * Returns the MD5 hash of a text in hexadecimal. Responses contain such hashes as pseudonyms for the users of a notification. The
 * hashes are not secret.
 */
export function userHash(text: string): string {
  return hash('md5', text, 'hex');
}

/** Returns the hash of an e-mail address, which is first changed to lower case. */
function emailHash(email: string | undefined): string | undefined {
  return email === undefined ? undefined : userHash(email.toLowerCase());
}

/** The fields that are stored as JSON text. */
const jsonFields = [
  'notificationSourceData',
  'displayHeadlineMessageTemplateData',
  'displayBodyMessageTemplateData',
  'context',
  'location',
  'metadata',
] as const;

/** The fields of a new notification that do not come from the request. */
export interface NotificationOrigin {
  readonly id: string;
  readonly documentId: string;
  /** The creation time in epoch ms. */
  readonly now: number;
  readonly thread?: ThreadReference | undefined;
  /** The access context that readers need if `context` is not sent, as texts `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
}

/** Returns a new notification in its stored form. It is for everybody, unless `notifyAll` is false. */
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
 * Returns a notification after an update. Fields that are not sent stay. Readers are added to the earlier readers. `thread` is
 * the notification's thread after the update.
 */
export function changeNotification(
  stored: Notification,
  { id: _, readByUserIds = [], ...change }: NotificationChange,
  thread: ThreadReference | undefined,
): Notification {
  const readers = distinct([...(stored.readByUserIds ?? []), ...readByUserIds]);
  return {
    ...stored,
    ...definedFields({ ...change, ...toJsonFields(jsonFields, change) }),
    readByUserIds: readers.length > 0 ? readers : undefined,
    thread,
  } as Notification;
}

/** Returns whether a notification is small enough to be stored. */
export function fitsItem(notification: Notification): boolean {
  return !isLongerThan(JSON.stringify(notification), MAX_STORED_BYTES);
}

interface NotificationSource {
  readonly notificationSource?: string | undefined;
  readonly notificationSourceData?: object | undefined;
}

/** Returns the annotation id in the source data of a notification. Returns undefined if the source is not `comment`. */
export function annotationIdOf({
  notificationSource,
  notificationSourceData = {},
}: NotificationSource): string | undefined {
  const { annotationId } = notificationSourceData as { annotationId?: unknown };
  return notificationSource === 'comment' && typeof annotationId === 'string' ? annotationId : undefined;
}

/** Returns the comment id in the source data of a notification. Returns undefined if it has no valid one. */
export function commentIdOf({ notificationSourceData }: Notification): number | undefined {
  return CommentId.safeParse(readJson<{ commentId?: unknown }>(notificationSourceData)?.commentId).data;
}

/** Returns whether a user is in `notifyUsers`. */
export function notifiesUser({ notifyUsers }: Notification, userId: string): boolean {
  return notifyUsers.some((notified) => notified.userId === userId);
}

export const NotificationResponse = /* @__PURE__ */ defineNamedSchema('Notification', () =>
  z.object({
    ...Notification.omit({ accessFields: true, locationKey: true, thread: true, documentId: true, createdAt: true })
      .shape,
    notificationSourceData: AnyObject.optional(),
    displayHeadlineMessageTemplateData: AnyObject.optional(),
    displayBodyMessageTemplateData: AnyObject.optional(),
    metadata: AnyObject,
    /**
     * The notified users. The keys are MD5 hashes of their e-mail addresses in lower case. In `notifyUsersByUserId`, the keys are
     * hashes of their user ids.
     */
    notifyUsers: z.record(z.string(), z.boolean()),
    notifyUsersByUserId: z.record(z.string(), z.boolean()),
    context: z.object({ access: AnyObject, accessFields: z.array(z.string()) }).optional(),
    location: AnyObject.optional(),
    locationId: z.string().optional(),
    /** When the notification was created, in epoch ms. */
    timestamp: z.number(),
  }),
);
export type NotificationResponse = z.output<typeof NotificationResponse>;

/**
 * Returns a notification in the form of responses. Its metadata contains `apiKey` and `organizationId`. Placeholders in templates
 * are not replaced. A user (`readerId`) gets no hashes of the e-mail addresses of others.
 */
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
