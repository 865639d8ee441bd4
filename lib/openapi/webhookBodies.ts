/**
 * Schemas for the OpenAPI document and the typed client. Tests check sent bodies with them. Deliveries do not use them.
 */
import * as z from 'zod';
import { CommentResponse } from '../comments/rules/commentResponses.ts';
import { ThreadResponse } from '../comments/rules/threadResponses.ts';
import { StoredUser } from '../content/rules/contentUser.ts';
import { Visibility } from '../directory/rules/visibility.ts';
import { type EventType, eventTypes, isOperational } from '../events/rules/catalogue.ts';
import { type EventSource, sourceOf } from '../events/rules/payload.ts';
import { notificationLevels } from '../events/rules/recipients.ts';
import { ReactionResponse } from '../reactions/rules.ts';
import { AnyObject, defineNamedSchema } from '../shared/schema.ts';
import { advancedActionType, basicActionType } from '../webhooks/rules/actionTypes.ts';
import { attemptOutcomes } from '../webhooks/rules/loggedAttempt.ts';

const described = <S extends z.ZodType>(schema: S, description: string): S => schema.meta({ description });
/** Several payloads contain the schema, so the OpenAPI document has it as a component. */
const component = <S extends z.ZodType>(name: string, schema: S, description: string): S =>
  defineNamedSchema(name, () => described(schema, description));
const Id = z.string();

const User = component(
  'EventUser',
  StoredUser.partial().required({ userId: true }),
  'A user. Fields other than the id are missing if they are unknown, or if data protection removes them.',
);

const idFields: ReadonlySet<string> = new Set(['annotationId', 'commentId', 'userId']);

/**
 * Fields other than `idFields` become optional, also in nested objects and lists, because large or protected payloads
 * lack them.
 */
function sparse(schema: z.ZodType): z.ZodType {
  if (schema === StoredUser) return User;
  const { description } = schema;
  return description === undefined ? sparseOf(schema) : described(sparseOf(schema), description);
}

function sparseOf(schema: z.ZodType): z.ZodType {
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
  sparseObject(
    CommentResponse.extend({
      reactionAnnotations: z.array(ReactionResponse).describe('The reaction that the event is about.').optional(),
    }),
  ),
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
    version: z.number().describe('Always 1.').optional(),
    url: z.string().describe('Where the file is, as it was sent.').optional(),
    mimeType: z.string().describe('The media type of the file, for example `audio/mp3`.').optional(),
    fileName: z.string().describe('The `name` of the attachment.').optional(),
    fileSizeInBytes: z.number().describe('How large the file is.').optional(),
    fileFormat: z.string().describe('`mp3`, `mp4` or `webm`, if the media type or the name says so.').optional(),
    thumbnailUrl: z.string().describe('Where a picture of the file is, as it was sent.').optional(),
    transcription: z.union([z.string(), AnyObject]).describe('What was said in the file.').optional(),
  }),
  'A file of a recording.',
);

const Metadata = component(
  'EventMetadata',
  z.looseObject({
    apiKey: Id.describe('The API key whose data this is.'),
    organization: z
      .looseObject({
        organizationId: Id.describe('The organization, by the id that you chose.'),
        organizationName: z.string().describe('The name that you gave it, if any.').optional(),
      })
      .describe('The organization, with your own fields.')
      .optional(),
    document: z
      .looseObject({
        documentId: Id,
        documentName: z.string().describe('The name that you gave it, if any.').optional(),
      })
      .describe('The document, with your own fields.')
      .optional(),
    folderId: Id.optional(),
    locations: z.array(AnyObject).describe('Where in the document it happened: at most one location.').optional(),
  }),
  "The organization and document of the event, with the customer's own fields. Events about deliveries have only `apiKey`.",
);

const BasicMetadata = component(
  'BasicEventMetadata',
  z.looseObject({
    apiKey: Id.describe('The API key whose data this is.'),
    clientOrganizationId: Id.describe('The same as `organizationId`.').optional(),
    organizationId: Id.describe('The organization, by the id that you chose.').optional(),
    organizationName: z.string().describe('The name that you gave it, if any.').optional(),
    clientDocumentId: Id.describe('The same as `documentId`.').optional(),
    documentId: Id.optional(),
    documentName: z.string().describe('The name that you gave it, if any.').optional(),
    organizationMetadata: AnyObject.describe('Your own fields of the organization.').optional(),
    documentMetadata: AnyObject.describe('Your own fields of the document.').optional(),
    folderId: Id.optional(),
    locations: z.array(AnyObject).describe('Where in the document it happened: at most one location.').optional(),
  }),
  'The organization and document of the event. Each id that the customer chose is there twice: with and without the prefix `client`.',
);

const truncated = described(
  z.literal(true).optional(),
  'Present if the payload would have been larger than 256 KB. The payload then has only ids.',
);

/** Without actor and metadata. */
const sourceFields = {
  comment: {
    commentAnnotation: Annotation.describe('The thread that the event is about.').optional(),
    targetComment: described(
      Comment.optional(),
      'The comment that the event is about. Missing if the event is about the thread.',
    ),
    oldStatus: AnyObject.describe('The status before the change, in `comment_annotation.status_change`.').optional(),
    newStatus: AnyObject.describe('The status after the change, in `comment_annotation.status_change`.').optional(),
    newPriority: z
      .union([z.string(), AnyObject])
      .describe(
        'The priority after the change, in `comment_annotation.priority_change`. Missing if the thread has none.',
      )
      .optional(),
    visibility: described(Visibility.optional(), 'Who may see the thread. Missing if the thread is not private.'),
    truncated,
  },
  huddle: {},
  crdt: {
    crdtData: z
      .object({
        id: Id.describe('The editor, by the id that you chose.').optional(),
        data: described(z.unknown().optional(), 'The value as JSON. Missing if it is larger than 128 KB.'),
        lastUpdatedBy: Id.describe('The user who changed the editor last. Empty if no change names a user.').optional(),
        sessionId: Id.describe('The `sessionId` that the last change was sent with.').nullable().optional(),
        lastUpdate: z.string().describe('When the editor last changed, in ISO 8601.').optional(),
      })
      .describe('The editor after the changes.'),
    truncated,
  },
  recorder: {
    recorderId: Id.describe('The recording, by your id or the one that the service chose.'),
    from: User.describe('The user who recorded.').optional(),
    assets: z.array(Asset).describe('The files of the recording.'),
    assetsAllVersions: z.array(Asset).describe('The same as `assets`, because a recording has one version.'),
    transcription: z.union([z.string(), AnyObject]).describe('What was said, as it was sent.').optional(),
    truncated,
  },
  workflow: {
    executionId: Id.describe('The run of the workflow.').optional(),
    definitionId: Id.describe('The definition of the workflow.').optional(),
    stepId: Id.describe('The step of the run.').optional(),
    groupId: Id.describe('The group of steps.').optional(),
    loopId: Id.describe('The loop in the run.').optional(),
    type: z.string().describe('The kind of step, in words of your own.').optional(),
    status: z.string().describe('How far it is, in words of your own.').optional(),
    iteration: z.number().describe('How often the loop has run.').optional(),
    seq: z.number().describe('Counts the events of a run, if you send it.').optional(),
  },
} satisfies Partial<Record<EventSource, z.ZodRawShape>>;

/** Of events whose fields differ from others of their source. */
const eventFields: Readonly<Record<string, z.ZodRawShape>> = {
  'crdt.version_restore': {
    crdtVersion: z
      .object({
        id: Id.describe('The editor, by the id that you chose.'),
        restoredVersionId: Id.describe('The version that was restored.'),
        name: z.string().describe('The name of that version. Missing if it has none.').optional(),
        keptVersionId: Id.describe('The version with the state before the restore.'),
      })
      .describe('What was restored.'),
  },
  'message.attempt.exhausted': {
    messageId: Id.describe('The message that was not delivered.'),
    event: z.enum(eventTypes).describe('The type of the message.'),
    endpointId: Id.describe(
      'The endpoint that failed. `ep_basic_raw` and `ep_basic_processed` are the two URLs of basic webhooks.',
    ),
    attempts: z.number().describe('How many attempts there were.'),
    lastAttempt: z

      .object({
        at: z.string().describe('When it began, in ISO 8601.'),
        outcome: z
          .enum(attemptOutcomes)
          .describe('How it ended. `refused`: the service refuses the address of the endpoint.'),
        responseStatus: z.number().describe('The HTTP status of the answer. Missing without an answer.').optional(),
      })
      .describe('The last attempt. Missing if there was none.')
      .optional(),
  },
  'endpoint.disabled': {
    endpointId: Id.describe('The endpoint that is now disabled.'),
    firstFailureAt: z.string().describe('When its failures began, in ISO 8601.'),
    disabledAt: z.string().describe('When the service disabled it, in ISO 8601.'),
  },
};

function dataFields(event: EventType): z.ZodRawShape {
  const source = sourceOf(event);
  return eventFields[event] ?? (source in sourceFields ? sourceFields[source as keyof typeof sourceFields] : {});
}

/** Only customers publish events of these sources, through `/v2/events/publish`. Their data can have any fields. */
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
const Level = z.enum(notificationLevels);
const Levels = z.record(
  Id,
  z.object({
    inbox: Level.describe('Which events reach the inbox of the user.'),
    email: Level.describe('Which events are mailed to the user.'),
  }),
);
const Actor = described(User.optional(), 'The user who caused the event.');
const Source = (source: EventSource) => z.literal(source).describe('The part of the service that the event is about.');

export function advancedSchema(event: EventType): z.ZodObject {
  const source = sourceOf(event);
  return z.object({
    event: z.literal(event).describe('What happened.'),
    actionType: z.literal(advancedActionType(event)).describe('The event type without its group, in camel case.'),
    source: Source(source),
    webhookId: MessageId,
    timestamp: Timestamp,
    data: objectOf(source, {
      ...(!isOperational(event) && { actionUser: Actor }),
      metadata: Metadata,
      ...dataFields(event),
    }).describe('The content of the event.'),
    ...(source === 'comment' && {
      usersDocumentNotificationsConfig: described(
        Levels.optional(),
        'The notification levels of the users whom the event concerns, by user id.',
      ),
    }),
  });
}

const Recipient = z.object({
  userId: Id,
  name: z.string().describe('The name in the profile, or in the event if there is no profile.').optional(),
  email: z.string().describe('The e-mail address in the profile, or in the event if there is no profile.').optional(),
});

export function basicSchema(event: EventType): z.ZodObject {
  const source = sourceOf(event);
  return objectOf(source, {
    webhookId: MessageId,
    actionType: z.literal(basicActionType(event)).describe('What happened.'),
    notificationSource: Source(source),
    timestamp: Timestamp,
    actionUser: Actor,
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
