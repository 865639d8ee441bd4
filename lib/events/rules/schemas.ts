/** Schemas of webhook bodies, for the OpenAPI document. Tests check sent bodies with them. Deliveries do not use them. */
import * as z from 'zod';
import { CommentResponse } from '../../comments/rules/comments.ts';
import { ThreadResponse } from '../../comments/rules/threads.ts';
import { StoredUser } from '../../content/rules/contentUser.ts';
import { Visibility } from '../../content/rules/visibility.ts';
import { ReactionResponse } from '../../reactions/rules.ts';
import { AnyObject, defineNamedSchema } from '../../shared/schema.ts';
import { attemptOutcomes } from '../../webhooks/rules/loggedAttempt.ts';
import { advancedActionType, basicActionType } from './actionTypes.ts';
import { type EventType, eventTypes, isOperational } from './catalogue.ts';
import { type EventSource, sourceOf } from './payload.ts';
import { notificationLevels } from './recipients.ts';

const described = <S extends z.ZodType>(schema: S, description: string): S => schema.meta({ description });
/** Returns the schema with a description. Several payloads contain it, so the OpenAPI document has it as a component. */
const component = <S extends z.ZodType>(name: string, schema: S, description: string): S =>
  defineNamedSchema(name, () => described(schema, description));
const Id = z.string();

const User = component(
  'EventUser',
  StoredUser.partial().required({ userId: true }),
  'A user. Fields other than the id are missing if they are unknown, or if data protection removes them.',
);

/** The fields that remain when a payload is reduced to ids. */
const idFields: ReadonlySet<string> = new Set(['annotationId', 'commentId', 'userId']);

/** Returns a schema in which all fields except ids are optional, at any depth. Large or protected payloads have only ids. */
function sparse(schema: z.ZodType): z.ZodType {
  if (schema === StoredUser) return User;
  const { description } = schema;
  return description === undefined ? sparseOf(schema) : described(sparseOf(schema), description);
}

function sparseOf(schema: z.ZodType): z.ZodType {
  // A copy of the schema of users that has a text of its own.
  if (schema._zod.parent === StoredUser) return User;
  if (schema instanceof z.ZodOptional) return sparse(schema.unwrap() as z.ZodType).optional();
  if (schema instanceof z.ZodArray) return z.array(sparse(schema.element as z.ZodType));
  return schema instanceof z.ZodObject ? sparseObject(schema) : schema;
}

function sparseObject(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).map(
    ([name, field]) => [name, idFields.has(name) ? field : sparse(field).optional()] as const,
  );
  return z.object(Object.fromEntries(fields));
}

const Comment = component(
  'EventComment',
  sparseObject(CommentResponse.extend({ reactionAnnotations: z.array(ReactionResponse).optional() })),
  'A comment, in the form of /v2/commentannotations/comments/get.',
);
const Annotation = component(
  'EventCommentAnnotation',
  sparseObject(ThreadResponse).extend({ comments: z.array(Comment).optional() }),
  'A thread, in the form of /v2/commentannotations/get. It contains only the comments that the event is about.',
);
const Asset = component(
  'EventAsset',
  z.object({
    version: z.number().optional(),
    url: z.string().optional(),
    mimeType: z.string().optional(),
    fileName: z.string().optional(),
    fileSizeInBytes: z.number().optional(),
    fileFormat: z.string().optional(),
    thumbnailUrl: z.string().optional(),
    transcription: z.union([z.string(), AnyObject]).optional(),
  }),
  'A file of a recording.',
);

const Metadata = component(
  'EventMetadata',
  z.looseObject({
    apiKey: Id,
    organization: z.looseObject({ organizationId: Id, organizationName: z.string().optional() }).optional(),
    document: z.looseObject({ documentId: Id, documentName: z.string().optional() }).optional(),
    folderId: Id.optional(),
    locations: z.array(AnyObject).optional(),
  }),
  "The organization and document of the event, with the customer's own fields. Events about deliveries have only `apiKey`.",
);

const BasicMetadata = component(
  'BasicEventMetadata',
  z.looseObject({
    apiKey: Id,
    clientOrganizationId: Id.optional(),
    organizationId: Id.optional(),
    organizationName: z.string().optional(),
    clientDocumentId: Id.optional(),
    documentId: Id.optional(),
    documentName: z.string().optional(),
    organizationMetadata: AnyObject.optional(),
    documentMetadata: AnyObject.optional(),
    folderId: Id.optional(),
    locations: z.array(AnyObject).optional(),
  }),
  'The organization and document of the event. Each id that the customer chose is there twice: with and without the prefix `client`.',
);

const truncated = described(
  z.literal(true).optional(),
  'Present if the payload would have been larger than 256 KB. The payload then has only ids.',
);

/** The data fields of each source, without actor and metadata. */
const sourceFields = {
  comment: {
    commentAnnotation: Annotation.optional(),
    targetComment: described(
      Comment.optional(),
      'The comment that the event is about. Missing if the event is about the thread.',
    ),
    oldStatus: AnyObject.optional(),
    newStatus: AnyObject.optional(),
    newPriority: z.union([z.string(), AnyObject]).optional(),
    visibility: described(Visibility.optional(), 'Who may see the thread. Missing if the thread is not private.'),
    truncated,
  },
  huddle: {},
  crdt: {
    crdtData: z.object({
      id: Id.optional(),
      data: described(z.unknown().optional(), 'The value as JSON. Missing if it is larger than 128 KB.'),
      lastUpdatedBy: Id.optional(),
      sessionId: Id.nullable().optional(),
      lastUpdate: z.string().optional(),
    }),
    truncated,
  },
  recorder: {
    recorderId: Id,
    from: User.optional(),
    assets: z.array(Asset),
    assetsAllVersions: z.array(Asset),
    transcription: z.union([z.string(), AnyObject]).optional(),
    truncated,
  },
  workflow: {
    executionId: Id.optional(),
    definitionId: Id.optional(),
    stepId: Id.optional(),
    groupId: Id.optional(),
    loopId: Id.optional(),
    type: z.string().optional(),
    status: z.string().optional(),
    iteration: z.number().optional(),
    seq: z.number().optional(),
  },
} satisfies Partial<Record<EventSource, z.ZodRawShape>>;

const operationalFields: Readonly<Record<string, z.ZodRawShape>> = {
  'message.attempt.exhausted': {
    messageId: Id,
    event: z.enum(eventTypes),
    endpointId: Id,
    attempts: z.number(),
    lastAttempt: z
      .object({ at: z.string(), outcome: z.enum(attemptOutcomes), responseStatus: z.number().optional() })
      .optional(),
  },
  'endpoint.disabled': { endpointId: Id, firstFailureAt: z.string(), disabledAt: z.string() },
};

function dataFields(event: EventType): z.ZodRawShape {
  const source = sourceOf(event);
  return operationalFields[event] ?? (source in sourceFields ? sourceFields[source as keyof typeof sourceFields] : {});
}

/**
 * Returns whether events of a source come only from customers, through `/v2/events/publish`. The data of these events can have any
 * fields.
 */
const isPublished = (source: EventSource) => source === 'huddle' || source === 'workflow';

function objectOf(source: EventSource, shape: z.ZodRawShape): z.ZodObject {
  return isPublished(source) ? z.looseObject(shape) : z.object(shape);
}

const Timestamp = z
  .string()
  .meta({ format: 'date-time', description: 'The time of the event. Deliveries arrive in any order.' });
const MessageId = described(
  Id,
  'The message id, as in the header `webhook-id`. All attempts of a message have the same id.',
);
const Levels = z.record(Id, z.object({ inbox: z.enum(notificationLevels), email: z.enum(notificationLevels) }));

/** Returns the schema of the body of an advanced webhook, before encoding and encryption. */
export function advancedSchema(event: EventType): z.ZodObject {
  const source = sourceOf(event);
  return z.object({
    event: z.literal(event),
    actionType: z.literal(advancedActionType(event)),
    source: z.literal(source),
    webhookId: MessageId,
    timestamp: Timestamp,
    data: objectOf(source, {
      ...(!isOperational(event) && { actionUser: User.optional() }),
      metadata: Metadata,
      ...dataFields(event),
    }),
    ...(source === 'comment' && {
      usersDocumentNotificationsConfig: described(
        Levels.optional(),
        'The notification levels of the users whom the event concerns, by user id.',
      ),
    }),
  });
}

const Recipient = z.object({ userId: Id, name: z.string().optional(), email: z.string().optional() });

/** Returns the schema of the body of a basic webhook, raw or processed, before encoding and encryption. */
export function basicSchema(event: EventType): z.ZodObject {
  const source = sourceOf(event);
  return objectOf(source, {
    webhookId: MessageId,
    actionType: z.literal(basicActionType(event)),
    notificationSource: z.literal(source),
    timestamp: Timestamp,
    actionUser: User.optional(),
    metadata: BasicMetadata,
    ...dataFields(event),
    ...(source === 'comment' && { assigned: described(z.boolean(), 'Whether the thread is assigned to somebody.') }),
    ...((source === 'comment' || source === 'crdt') && {
      accessDeniedUsers: described(z.array(Id), 'The users whom the event concerns and who may not see the content.'),
    }),
    recipients: described(
      z.array(Recipient).optional(),
      'The users whom the event notifies under their notification settings. Only at `processedNotificationUrl`.',
    ),
  });
}
