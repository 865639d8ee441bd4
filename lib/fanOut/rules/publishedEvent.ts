import * as z from 'zod';
import { type ContentUser, MAX_INVOLVED_USERS } from '../../content/rules/contentUser.ts';
import { eventMetadata, type EventNames } from '../../content/rules/eventMetadata.ts';
import { accessFields } from '../../directory/rules/access.ts';
import { type EventType, eventTypes, isOperational } from '../../events/rules/catalogue.ts';
import { type Audience, type AudienceThread, type EventPayload, sourceOf } from '../../events/rules/payload.ts';
import { commentsOf, parseEventContent } from '../../mail/rules/eventMailContent.ts';
import { distinct, isObject } from '../../shared/collections.ts';
import { invalid } from '../../shared/errors.ts';
import { AccessContext, Id, optional } from '../../shared/schema.ts';

const publishable = eventTypes.filter((type) => !isOperational(type));
const publishableTypes: ReadonlySet<string> = /* @__PURE__ */ new Set(publishable);

export const PublishableType = z
  .string()
  .check(
    z.refine((type) => publishableTypes.has(type), {
      error: 'must be an event type that can be published, such as comment.add',
    }),
  )
  .meta({ enum: publishable }) as unknown as z.ZodType<EventType, string>;

export interface PublishedEvent {
  readonly event: EventType;
  readonly actionUser?: ContentUser | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

function addressedUsers(data: PublishedEvent['data']): string[] {
  const content = parseEventContent(data);
  const mentioned = commentsOf(content).flatMap(({ to, taggedUserContacts }) => [
    ...to.map(({ userId }) => userId),
    ...taggedUserContacts.map(({ userId, contact }) => userId ?? contact?.userId),
  ]);
  const named = [
    ...mentioned,
    content.commentAnnotation?.assignedTo?.userId,
    ...content.notifyUsers.map(({ userId }) => userId),
  ];
  const userIds = distinct(named.flatMap((userId) => Id.safeParse(userId).data ?? []));
  if (userIds.length > MAX_INVOLVED_USERS)
    throw invalid({
      path: ['data'],
      code: 'too_many_users',
      message: `data must not name more than ${MAX_INVOLVED_USERS} users to notify`,
    });
  return userIds;
}

export function publishedAnnotationId(data: PublishedEvent['data']): string | undefined {
  const { commentAnnotation } = data;
  return Id.safeParse(isObject(commentAnnotation) ? commentAnnotation.annotationId : undefined).data;
}

const Contexts = z.array(optional(z.object({ access: optional(AccessContext) })));

/** Texts `field:value` of the thread and the comments. Undefined if a context is invalid. */
function publishedAccessFields({ commentAnnotation, targetComment }: PublishedEvent['data']): string[] | undefined {
  const comments = isObject(commentAnnotation) ? commentAnnotation.comments : [];
  const parts: unknown[] = [commentAnnotation, targetComment, comments].flat();
  const { data: contexts } = Contexts.safeParse(parts.map((part) => (isObject(part) ? part.context : undefined)));
  return contexts && distinct(contexts.flatMap((context) => (context?.access ? accessFields(context.access) : [])));
}

/**
 * If the thread is stored, only users who may see it are notified. An invalid access context does not say who may see
 * the event, so nobody is notified.
 */
export function publishedPayload(
  { event, actionUser, data }: PublishedEvent,
  names: EventNames,
  thread: AudienceThread | undefined,
): EventPayload {
  const source = sourceOf(event);
  const sentMetadata = isObject(data.metadata) ? data.metadata : {};
  const addressed = addressedUsers(data);
  const context = publishedAccessFields(data);
  const actor = actionUser ?? parseEventContent(data).actionUser;
  const audience: Audience = {
    ...(actor && { actorId: actor.userId }),
    addressed: context ? addressed : [],
    following: [],
    ...(thread && { thread }),
    ...(context && context.length > 0 && { accessFields: context }),
  };
  return {
    source,
    data: { ...data, ...(actionUser && { actionUser }), metadata: { ...sentMetadata, ...eventMetadata(names) } },
    ...((source === 'comment' || source === 'huddle') && { audience }),
  };
}
