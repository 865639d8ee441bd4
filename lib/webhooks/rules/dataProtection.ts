/**
 * Fields in no list of this file are removed, so a new field or a key that a customer chose cannot leak a name or a
 * text.
 */
const idFields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'id',
  'apiKey',
  'organizationId',
  'organizationIds',
  'documentId',
  'folderId',
  'locationId',
  'editorId',
  'sessionId',
  'userId',
  'userIds',
  'involvedUserIds',
  'mentionedUserIds',
  'viewedByUserIds',
  'readByUserIds',
  'resolvedByUserId',
  'statusUpdatedByUserId',
  'lastUpdatedBy',
  'annotationId',
  'annotationIds',
  'commentAnnotationId',
  'commentId',
  'commentIds',
  'reactionAnnotationIds',
  'notificationId',
  'recorderId',
  'attachmentId',
  'targetEntityId',
  'targetSubEntityId',
  'agentId',
  'executionId',
  'findingId',
  'definitionId',
  'stepId',
  'groupId',
  'loopId',
  'endpointId',
  'messageId',
  'restoredVersionId',
  'keptVersionId',
]);

const wordFields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'type',
  'commentType',
  'sourceType',
  'agentSource',
  'recordingType',
  'mode',
  'status',
  'oldStatus',
  'newStatus',
  'priority',
  'newPriority',
  'confidence',
  'event',
  'outcome',
  'decision',
  'responseStatus',
  'attempts',
  'attempt',
  'iteration',
  'seq',
  'version',
  'annotationNumber',
  'annotationIndex',
  'commentCount',
  'hasMoreComments',
  'size',
  'fileSizeInBytes',
  'fileFormat',
  'mimeType',
  'duration',
  'startTimeInSeconds',
  'endTimeInSeconds',
  'isDraft',
  'isEdited',
  'hasDraftComments',
  'isCommentResolverUsed',
  'isCommentTextAvailable',
  'truncated',
  'at',
  'createdAt',
  'lastUpdated',
  'lastUpdate',
  'updatedAt',
  'timestamp',
  'expiresAt',
  'firstFailureAt',
  'disabledAt',
]);

const WORD = /^[\w.:/+-]{1,64}$/;

const nestedFields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'commentAnnotation',
  'targetComment',
  'comments',
  'status',
  'oldStatus',
  'newStatus',
  'priority',
  'newPriority',
  'agent',
  'reason',
  'visibility',
  'visibilityConfig',
  'attachments',
  'recorders',
  'reactionAnnotation',
  'reactionAnnotations',
  'crdtData',
  'crdtVersion',
  'notification',
  'assets',
  'assetsAllVersions',
  'recordedTime',
  'transcription',
  'transcriptSegments',
  'execution',
  'step',
  'group',
  'loop',
  'lastAttempt',
]);

/** Objects about people, or with keys that customers chose. Only their ids stay. */
const idOnlyFields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'actionUser',
  'from',
  'to',
  'assignedTo',
  'taggedUserContacts',
  'contact',
  'fromUsers',
  'subscribedUsers',
  'unsubscribedUsers',
  'recipients',
  'recipientUser',
  'ranBy',
  'metadata',
  'organization',
  'document',
  'location',
  'locations',
  'suggestion',
]);

type Json = Readonly<Record<string, unknown>>;

export function protectData(data: Json): Record<string, unknown> {
  return protectFields(data, false);
}

function protectFields(data: Json, onlyIds: boolean): Record<string, unknown> {
  const isKept = (key: string, value: unknown) =>
    isPlain(value) &&
    (idFields.has(key) || (!onlyIds && wordFields.has(key) && (typeof value !== 'string' || WORD.test(value))));
  const fields: [string, unknown][] = [];
  for (const [key, value] of Object.entries(data)) {
    const isIdOnly = idOnlyFields.has(key);
    if (!isPlain(value) && (isIdOnly || nestedFields.has(key))) {
      fields.push([key, protectNested(value, onlyIds || isIdOnly)]);
    } else if (Array.isArray(value)) {
      if (idFields.has(key)) fields.push([key, value.filter((item) => isKept(key, item))]);
    } else if (isKept(key, value)) {
      fields.push([key, value]);
    }
  }
  return Object.fromEntries(fields);
}

function protectNested(value: unknown, onlyIds: boolean): unknown {
  if (!Array.isArray(value)) return protectFields(value as Json, onlyIds);
  return value.filter((item) => !isPlain(item)).map((item) => protectNested(item, onlyIds));
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
