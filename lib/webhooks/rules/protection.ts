/**
 * What `enableDataProtection` lets through (design 6): ids, and the numbers, times and words of ours that are known by the
 * name of their field. Everything else is left out, so that a field that is added tomorrow, or a key of the customer's own,
 * cannot carry a name or a text out; a list of what to leave out would have to know it first.
 */
const ids: ReadonlySet<string> = /* @__PURE__ */ new Set([
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
]);

const words: ReadonlySet<string> = /* @__PURE__ */ new Set([
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

/** What a word can look like; a text under the name of one is left out. */
const WORD = /^[\w.:/+-]{1,64}$/;

/** The fields whose objects and lists are looked into. */
const entered: ReadonlySet<string> = /* @__PURE__ */ new Set([
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

/** Those that hold a person, or keys of the customer's own: only ids are let through from there. */
const open: ReadonlySet<string> = /* @__PURE__ */ new Set([
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

/** `data` of a payload without personal data and without what users wrote: ids and structure are left. */
export function protectData(data: Json): Record<string, unknown> {
  return protectedFields(data, false);
}

function protectedFields(data: Json, idsAlone: boolean): Record<string, unknown> {
  const mayLeave = (key: string, value: unknown) =>
    isPlain(value) &&
    (ids.has(key) || (!idsAlone && words.has(key) && (typeof value !== 'string' || WORD.test(value))));
  return Object.fromEntries(
    Object.entries(data).flatMap(([key, value]): [string, unknown][] => {
      if (!isPlain(value) && (entered.has(key) || open.has(key)))
        return [[key, within(value, idsAlone || open.has(key))]];
      if (Array.isArray(value)) return ids.has(key) ? [[key, value.filter((item) => mayLeave(key, item))]] : [];
      return mayLeave(key, value) ? [[key, value]] : [];
    }),
  );
}

function within(value: unknown, idsAlone: boolean): unknown {
  if (!Array.isArray(value)) return protectedFields(value as Json, idsAlone);
  return value.filter((item) => !isPlain(item)).map((item) => within(item, idsAlone));
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
