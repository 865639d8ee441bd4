import * as z from 'zod';
import { distinct } from '../../shared/collections.ts';
import { invalid } from '../../shared/errors.ts';
import { AccessContext, Id } from '../../shared/schema.ts';
import { accessFields } from '../../directory/rules/access.ts';
import { type EventNames, eventMetadata } from '../../content/rules/names.ts';
import { type ContentUser, MOST_INVOLVED } from '../../content/rules/user.ts';
import { commentsOf, parseEventContent } from '../../mail/rules/eventMailContent.ts';
import { type EventType, eventTypes, isOperational } from './catalogue.ts';
import { type Audience, type AudienceThread, type EventPayload, sourceOf } from './payload.ts';

const publishable = eventTypes.filter((type) => !isOperational(type));
const known: ReadonlySet<string> = /* @__PURE__ */ new Set(publishable);

/** The name of an event type that can be published: not those that tell of deliveries themselves, which are ours to say. */
export const PublishableType = z
  .string()
  .check(
    z.refine((type) => known.has(type), { error: 'must be an event type that can be published, such as comment.add' }),
  )
  .meta({ enum: publishable }) as unknown as z.ZodType<EventType, string>;

/** What is published. */
export interface Published {
  readonly event: EventType;
  readonly actionUser?: ContentUser | undefined;
  /** The caller's own. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Named by `notifyUsers`, whom nobody mentioned. */
const NotifyUsers = z.array(z.object({ userId: z.unknown() }).catch({ userId: undefined })).catch([]);

/**
 * Whom a published event names: those mentioned by its comments, the assignee, and `notifyUsers`. INVALID_ARGUMENT for more than one record
 * can involve.
 */
function namedIn(data: Published['data']): string[] {
  const said = parseEventContent(data);
  const mentioned = commentsOf(said).flatMap(({ to, taggedUserContacts }) => [
    ...to.map(({ userId }) => userId),
    ...taggedUserContacts.map(({ userId, contact }) => userId ?? contact?.userId),
  ]);
  const named = [
    ...mentioned,
    said.commentAnnotation?.assignedTo?.userId,
    ...NotifyUsers.parse(data.notifyUsers).map(({ userId }) => userId),
  ];
  const userIds = distinct(named.flatMap((userId) => Id.safeParse(userId).data ?? []));
  if (userIds.length > MOST_INVOLVED)
    throw invalid({
      path: ['data'],
      code: 'too_many_users',
      message: `data must not name more than ${MOST_INVOLVED} users to notify`,
    });
  return userIds;
}

/** The thread that a published event says it is about. */
export function annotationIdIn(data: Published['data']): string | undefined {
  const { commentAnnotation } = data;
  const id =
    typeof commentAnnotation === 'object' && commentAnnotation !== null && 'annotationId' in commentAnnotation
      ? commentAnnotation.annotationId
      : undefined;
  return Id.safeParse(id).data;
}

const Contextual = z
  .object({ context: z.object({ access: AccessContext }) })
  .transform(({ context }) => accessFields(context.access))
  .catch([]);
const ContextualThread = z.object({ comments: z.array(Contextual).catch([]) }).catch({ comments: [] });

/** The access context that a published event states for its thread and its comments, as `field:value`. */
function contextIn({ commentAnnotation, targetComment }: Published['data']): string[] {
  const { comments } = ContextualThread.parse(commentAnnotation);
  return distinct([Contextual.parse(commentAnnotation), Contextual.parse(targetComment), ...comments].flat());
}

/**
 * What a published event says: the caller's data with who did it and where. Users hear by mail and in the app of comments and huddles, those
 * whom it names; of a thread that is stored only those who may see it, as with events of our own.
 */
export function publishedPayload(
  { event, actionUser, data }: Published,
  names: EventNames,
  thread: AudienceThread | undefined,
): EventPayload {
  const source = sourceOf(event);
  const given =
    typeof data.metadata === 'object' && data.metadata !== null && !Array.isArray(data.metadata) ? data.metadata : {};
  const context = contextIn(data);
  const audience: Audience = {
    ...(actionUser && { actorId: actionUser.userId }),
    addressed: namedIn(data),
    following: [],
    ...(thread && { thread }),
    ...(context.length > 0 && { accessFields: context }),
  };
  return {
    source,
    data: { ...data, ...(actionUser && { actionUser }), metadata: { ...given, ...eventMetadata(names) } },
    ...((source === 'comment' || source === 'huddle') && { audience }),
  };
}
