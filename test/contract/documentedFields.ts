/**
 * The fields that the documentation of this interface names for requests, and that published clients send, by endpoint. `[]` is a
 * list. `{a, b}` are fields of the object before it.
 */
const USER =
  '{userId, name, email, photoUrl, color, textColor, initial, type, plan, organizationId, isAdmin, isReadOnly, isAnonymous, isGuest, groupId}';
const RESOURCES = 'permissions{resources[]{type, id, organizationId, accessRole, expiresAt}}';
const PROGRESS =
  'progress{state, steps[]{label, id, state, startedAt, completedAt, metadata}, visibleToUserIds, startedAt}';
const ACTIONS = 'actions[]{id, label, icon, disabled, hidden, metadata}';
const COMMENT =
  `{commentId, commentText, commentHtml, from${USER}, to[]${USER}, context{access}, taggedUserContacts[]{userId, text, contact}, attachments[]{name, url}, ` +
  'triggerNotification, triggerActivities, isCommentResolverUsed, isCommentTextAvailable, agent{agentSource, agentId, executionId, agentName, url, reason{title, description, severity, findingId, findingType, issueType, confidence, suggestion, suggestedFix, htmlSnippet, htmlSelector, source, knowledgeSection}}, ' +
  `${PROGRESS}, ${ACTIONS}, metadata{any}, createdAt, lastUpdated}`;
const THREAD_FIELDS =
  `location{id, locationName, version{id, name}}, targetElement{elementId, targetText, occurrence, selectAllContent}, status{id, name, type, color}, assignedTo${USER}, priority{id, name}, context{access}, ` +
  'suggestion{any}, visibility{type, organizationId, userIds}, visibilityConfig{type, organizationId, userIds}, pageInfo{url}, isPageAnnotation, ' +
  `positionX, positionY, screenWidth, screenHeight, screenScrollHeight, screenScrollTop, ${ACTIONS}, ${PROGRESS}, createdAt, lastUpdated, ` +
  `customList[]{id}, subscribedUsers[]${USER}, metadata{any}`;
const THREADS = 'organizationId, documentId, annotationIds, locationIds, userIds';
const BASIC =
  'authToken, rawNotificationUrl, processedNotificationUrl, encodeData, encryptData, publicKey, enableDataProtection';
const EMAIL = 'type, apiKey, fromEmail, fromCompany, commentTemplateId, tagTemplateId';
const NOTIFICATION =
  'displayHeadlineMessageTemplate, displayHeadlineMessageTemplateData{actionUser, recipientUser, any}, displayBodyMessage, ' +
  `displayBodyMessageTemplate, displayBodyMessageTemplateData{any}, notificationSourceData{any}, actionUser${USER}`;
const ACTIVITY =
  'id, changes{any}, entityData{any}, entityTargetData{any}, displayMessageTemplate, displayMessageTemplateData{any}, actionIcon';
const COMMENT_TRIGGERS =
  'triggers{comment{newlyAdded, added, updated, deleted, approved, assigned, reactionAdded, reactionDeleted, statusChanged, priorityChanged, accessModeChanged, ' +
  'accepted, rejected, suggestionAccepted, suggestionRejected, customListChanged, subscribed, unsubscribed}';
const EVENT_TRIGGERS =
  'triggers{comment_annotation.add, comment_annotation.assign, comment_annotation.status_change, comment_annotation.priority_change, comment_annotation.custom_list_change, ' +
  'comment_annotation.subscribe, comment_annotation.unsubscribe, comment_annotation.accept, comment_annotation.reject, comment_annotation.approve, ' +
  'comment_annotation.suggestion_accept, comment_annotation.suggestion_reject, comment.add, comment.update, comment.delete, comment.reaction_add, comment.reaction_delete, ' +
  'huddle.create, huddle.join, crdt.update_data, recorder.done}';
const FILTERS = 'filters[]{key, operator, value}';
const BEHAVIOUR =
  'rawInstructions, instructions, phaseTimeoutMs, metadata{any}, setup{setupSamples, checklistOrigin}, anyFieldOfTheCustomer, ' +
  'contextGathering{strategies, strategyOptions{web-page-text{deviceType, excludeIframes}, web-page-screenshot{scrollBeforeCapture, maxPageHeightPx, waitUntil, deviceType}, web-page-html{includeHead, includeBody, excludeIframes, waitUntil}, web-page-css{includeInlineStyles}, computed-styles{selectors, properties}, sitemap-data{maxEntries}, lighthouse{categories, formFactor}, rest-api{endpoints[]{id, name, description, url, method, headers, query, body, auth{type, token, username, password, headers}, cacheTtlSeconds, timeoutMs, responsePath}, maxResponseBytes}}, aiConfig{provider, model, responseMimeType, maxToolTurns}}, ' +
  'execution{executionStrategy, serviceId, aiConfig{provider, model, responseMimeType, maxToolTurns}, mcpServers[]{id, url, name, description, transport, auth{type, token, username, password, headers}, allowedTools, timeoutMs}, responseDescriptions{summary, title, description, severity, targetText, suggestion, isPageLevel, issueType, confidence, htmlSelector, findingType}, strategyOptions{stagehand-agent{mode, maxSteps, model, systemPrompt, useStructuredOutput, waitUntil, navigationTimeout}}, knowledge{useMemory, maxChunks, maxPatterns, maxActivities}}, ' +
  'response{useAiFormatting, formattingPrompt, responseAdapter, aiConfig{provider}}, ' +
  'postProcess{guardrails{enabled}, deletePreviousSuggestions{enabled}, pinResolution{enabled}, annotations{enabled, strategy}, analytics{enabled}, matchAndMerge{enabled}, customProcessors}, ' +
  'input{variableKeys, userContextFields[]{id, title, type, required, example, defaultValue}, inputRequirements{requires, requiresOneOf}, supportedVariables}, ' +
  'scope{pageScope, pageScopeExclude, contentTypes, crossPage{enabled, targetProperty, pageDiscovery, pages, sourceOfTruthKnowledgeSourceId}}';

export const documentedFields: Readonly<Record<string, string>> = {
  '/v2/auth/permissions/get': 'organizationId, userIds, folderIds, documentIds, skipResourceExistenceValidation',
  '/v2/auth/permissions/add': `user{userId}, permissions{resources[]{type, id, organizationId, accessRole, expiresAt, context{access}}}`,
  '/v2/auth/permissions/remove': 'userId, permissions{resources[]{type, id, organizationId}}',
  '/v2/auth/generate_token': `userId, userProperties{name, email, isAdmin}, ${RESOURCES}`,
  '/v2/auth/token/get': `userId, userProperties{organizationId, name, email, isAdmin}, ${RESOURCES}`,
  '/v1/auth/token/get': 'apiKey, authToken, userId, userProperties{organizationId, isAdmin, email}',
  '/v2/auth/generate_signature': 'permissions[]{userId, resourceId, type, hasAccess, accessRole, expiresAt}',
  '/v2/workspace/create': 'ownerEmail, name, workspaceName, avatar, expiresInMs',
  '/v2/workspace/authtokens/get': 'apiKey',
  '/v2/workspace/authtoken/reset': 'apiKey',
  '/v2/workspace/apikey/create':
    'ownerEmail, type, persistenceDBRegion, realtimeDBRegion, createAuthToken, apiKeyName, allowedDomains, addLocalHostToAllowedDomains, ' +
    'useEmailService, useWebhookService, useNotificationService, setDefaultNotificationTriggers, setDefaultEmailTriggers, requireAutoOrgUser, ' +
    `enablePrivateComments, emailServiceConfig{${EMAIL}}, webhookServiceConfig{${BASIC}}, planInfo{type}, customPlanInfo, customPlanInfoData, ` +
    'workspaceId, isSuperWorkspace, platform',
  '/v2/workspace/apikey/update': 'apiKey, apiKeyName',
  '/v2/workspace/apikeys/get': 'apiKeys, pageSize, pageToken',
  '/v2/workspace/apikeyconfig/update':
    'enablePrivateComments, requireJwtToken, requireAutoOrgUser, defaultDocumentAccessType, aiModelApiKey[]{provider, customerApiKey}',
  '/v2/workspace/domains/add': 'domains',
  '/v2/workspace/domains/delete': 'domains',
  '/v2/workspace/email/status': 'ownerEmail',
  '/v2/workspace/email/send-login-link': 'email, continueUrl',
  '/v2/workspace/webhookconfig/update': `useWebhookService, webhookServiceConfig{${BASIC}, ${EVENT_TRIGGERS}}`,
  '/v2/workspace/emailconfig/update': `useEmailService, emailServiceConfig{${EMAIL}, ${EVENT_TRIGGERS}}`,
  '/v2/workspace/notificationconfig/update':
    `useNotificationService, notificationServiceConfig{${COMMENT_TRIGGERS}, huddle{created, join}}, ` +
    'delayConfig{isEnabled, delaySeconds}, batchConfig{document{isEnabled, batchWindowSeconds, maxActivities}, user{isEnabled, batchWindowSeconds, maxActivities}}}',
  '/v2/workspace/activityconfig/update': `activityServiceConfig{isEnabled, enabledTime, immutable, ${COMMENT_TRIGGERS}}}`,
  '/v2/workspace/permissionproviderconfig/update':
    'usePermissionProvider, permissionProviderConfig{permissionProviderUrl, authToken}',
  '/v2/workspace/advancedwebhookconfig/update': 'isEnabled, encryptData, encodeData, publicKey, enableDataProtection',
  '/v2/workspace/advancedwebhook/endpoints/create':
    'url, description, filterTypes, channels, disabled, rateLimit, uid, metadata{any}',
  '/v2/workspace/advancedwebhook/endpoints/update':
    'endpointId, url, description, filterTypes, channels, disabled, rateLimit, metadata{any}',
  '/v2/workspace/advancedwebhook/endpoints/get': 'limit, iterator',
  '/v2/workspace/advancedwebhook/endpoints/delete': 'endpointId',
  '/v2/workspace/advancedwebhook/endpoints/secret/get': 'endpointId',
  '/v2/workspace/advancedwebhook/endpoints/secret/rotate': 'endpointId, overlapSeconds',
  '/v2/workspace/advancedwebhook/endpoints/test': 'endpointId, event',
  '/v2/workspace/advancedwebhook/endpoints/recover': 'endpointId, since',
  '/v2/workspace/advancedwebhook/messages/get': 'limit, iterator, endpointId, status, events, since, until',
  '/v2/workspace/advancedwebhook/messages/resend': 'messageId, endpointId',
  '/v2/workspace/advancedwebhook/attempts/get': 'messageId, endpointId',
  '/v2/agents/create': `name, description, enabled, ${BEHAVIOUR}`,
  '/v2/agents/version/update': `agentId, ${BEHAVIOUR}`,
  '/v2/agents/get': 'agentId, filter, groupId',
  '/v2/agents/update': 'agentId, name, description, enabled',
  '/v2/agents/delete': 'agentId',
  '/v2/agents/extract': 'fileBase64, mimeType, provider, fileName',
  '/v2/agents/versions/list': 'agentId',
  '/v2/agents/versions/restore': 'agentId',
  '/v2/agents/groups/create': 'name, description, agentIds, metadata{any}',
  '/v2/agents/groups/get': 'groupId',
  '/v2/agents/groups/update': 'groupId, name, description',
  '/v2/agents/groups/delete': 'groupId',
  '/v2/agents/groups/add-agents': 'groupId, agentIds',
  '/v2/agents/groups/remove-agents': 'groupId, agentIds',
  '/v2/memory/search':
    'query, embeddingType, scope, organizationId, orgId, documentId, docId, documentIds, limit, recencyDays, ' +
    'filters{decision, judgeType, contentType, reviewerId, annotationId, excludeDocumentIds, dateRange{start, end}}',
  '/v2/memory/judgments/query':
    'organizationId, documentId, documentIds, decision, judgeType, contentType, reviewerId, annotationId, limit',
  '/v2/memory/judgments/add':
    'organizationId, documentId, judgments[]{recordId, decision, reasoning, content, contentType, confidence, annotationId, createdAt, ' +
    `actionUser${USER}, agent{agentId, agentType, executionId}}`,
  '/v2/activities/add': `organizationId, documentId, activities[]{featureType, actionType, actionUser${USER}, targetEntityId, targetSubEntityId, isActivityResolverUsed, ${ACTIVITY}}`,
  '/v2/activities/get':
    'organizationId, documentId, targetEntityId, featureTypes, actionTypes, userId, activityIds, order, pageSize, pageToken',
  '/v2/activities/update': `organizationId, activities[]{${ACTIVITY}}`,
  '/v2/activities/delete': 'organizationId, documentId, targetEntityId, activityIds',
  '/v2/crdt/add': 'organizationId, documentId, editorId, data{any}, type, contentKey, isServerIds',
  '/v2/crdt/update': 'organizationId, documentId, editorId, data{any}, type, contentKey, isServerIds',
  '/v2/crdt/get': 'organizationId, documentId, editorId, type, isServerIds',
  '/v2/crdt/delete': 'organizationId, documentId, editorIds, isServerIds',
  '/v2/presence/add': 'organizationId, documentId, users[]{userId, name, email, status}',
  '/v2/presence/update': 'organizationId, documentId, users[]{userId, name, email, status}',
  '/v2/presence/delete': 'organizationId, documentId, userIds',
  '/v2/livestate/broadcast': 'organizationId, documentId, liveStateDataId, data{any}, merge',
  '/v2/recordings/get': 'organizationId, documentId, recordingIds, pageSize, pageToken',
  '/v2/recordings/add': `organizationId, documentId, recordings[]{annotationId, recordingType, from${USER}, displayName, recordedTime{any}, attachments[]{any}, transcription{any}, location{any}}`,
  '/v2/reactions/add': `organizationId, documentId, reactions[]{annotationId, icon, from${USER}, commentAnnotationId, commentId, location{any}}`,
  '/v2/reactions/delete': 'organizationId, documentId, annotationIds',
  '/v2/events/publish': `event, organizationId, documentId, channels, actionUser${USER}, data{any}, eventId`,
  '/v2/users/add': `organizationId, documentId, folderId, parentFolderId, context, createOrganization, createDocument, createFolder, users[]{accessRole, ${USER.slice(1)}`,
  '/v2/users/update': `organizationId, documentId, folderId, options{all, allDocuments}, users[]{accessRole, ${USER.slice(1)}`,
  '/v2/users/get':
    'organizationId, documentId, folderId, userIds, organizationUserGroupIds, allDocuments, groupByDocumentId, searchKey, ' +
    'includeInvolvedDocuments, includeInvolvedDocumentsCount, pageSize, pageToken',
  '/v2/users/count/get': 'organizationId, documentId, allDocuments, userId',
  '/v2/users/doc/get': 'organizationId, userIds, includeInvolvedDocuments, pageSize, pageToken',
  '/v2/users/invite/add':
    'email, organizationId, type, documentId, folderId, organizationName, documentName, folderName, ' +
    'invitedBy{email, userId, clientUserId}',
  '/v2/users/invite/respond':
    'email, organizationId, type, status, documentId, folderId, ' +
    'user{userId, name, email, photoUrl, color, textColor, initial, type, plan}, authToken',
  '/v2/users/invite/get': 'organizationId, email, isPendingUsersOnly, pageSize, pageToken',
  '/v2/users/invitations/get': 'organizationId, email, status, type, pageSize, pageToken',
  '/v2/users/invite/pending/count': 'organizationId, type',
  '/v2/users/delete': 'organizationId, documentId, folderId, userIds, context',
  '/v2/users/data/get': 'organizationId, userId, pageToken, uniqueId, svcUserIds, svcAllOrganizations',
  '/v2/users/data/delete': 'userIds, organizationIds',
  '/v2/users/data/delete/status': 'jobId',
  '/v2/organizations/add': 'organizations[]{organizationId, organizationName, any}',
  '/v2/organizations/update': 'organizations[]{organizationId, organizationName, any}',
  '/v2/organizations/get': 'organizationIds, pageSize, pageToken',
  '/v2/organizations/delete': 'organizationIds',
  '/v2/organizations/access/disablestate/update': 'organizationIds, disabled',
  '/v2/organizations/usergroups/add':
    'organizationId, createOrganization, organizationUserGroups[]{groupId, groupName}',
  '/v2/organizations/usergroups/users/add': 'organizationId, organizationUserGroupId, userIds',
  '/v1/organizations/usergroups/users/delete': 'organizationId, organizationUserGroupId, userIds, deleteAll',
  '/v1/organizations/documents/locations/data/delete': 'apiKey, authToken, documentId, location{id, locationName}',
  '/v1/organizations/documents/locations/update':
    'apiKey, authToken, documentId, organizationId, migrate{oldLocation{id, any}, newLocation{id, any}}, merge',
  '/v2/organizations/folders/add':
    'organizationId, createOrganization, folders[]{folderId, folderName, parentFolderId, accessType}',
  '/v2/organizations/folders/get': 'organizationId, folderId, maxDepth, pageSize, pageToken, rootFoldersOnly',
  '/v2/organizations/folders/update': 'organizationId, folders[]{folderId, folderName, parentFolderId, accessType}',
  '/v2/organizations/folders/delete': 'organizationId, folderId',
  '/v2/organizations/folders/access/update': 'organizationId, folderIds, accessType, inheritFromParent',
  '/v2/organizations/documents/add':
    'organizationId, createOrganization, folderId, createFolder, documents[]{documentId, documentName, accessType, metadata{any}}',
  '/v2/organizations/documents/update':
    'organizationId, merge, documents[]{documentId, documentName, accessType, metadata{any}}',
  '/v2/organizations/documents/get': `organizationId, documentIds, folderId, pageSize, pageToken, orderByCommentViews, ${FILTERS}`,
  '/v2/organizations/documents/count/get': `organizationId, folderId, excludeFolderDocs, ${FILTERS}`,
  '/v2/organizations/documents/delete': 'organizationId, documentIds',
  '/v2/organizations/documents/move': 'organizationId, documentIds, folderId',
  '/v2/workspace/apikey/copy': 'sourceApiKey, targetApiKey, created',
  '/v2/workspace/domains/request': 'domain, clientDocumentId, organizationId',
  '/v2/workspace/additional-url-request': 'action, id, clientDocId',
  '/v2/organizations/documents/migrate': 'organizationId, documentId, newDocumentId',
  '/v2/organizations/documents/migrate/status': 'organizationId, migrationId',
  '/v2/organizations/documents/access/update': 'organizationId, documentIds, accessType',
  '/v2/organizations/documents/access/disablestate/update': 'organizationId, documentIds, disabled',
  '/v2/notifications/add':
    'organizationId, documentId, createOrganization, createDocument, verifyUserPermissions, notifyAll, notificationId, notificationSource, ' +
    `notifyUsers[]${USER}, context{access}, location{any}, metadata{any}, isNotificationResolverUsed, isCrossOrganizationEnabled, ${NOTIFICATION}`,
  '/v2/notifications/get':
    'organizationId, documentId, userId, locationId, notificationIds, pageSize, pageToken, order',
  '/v1/notifications/get': 'organizationId, documentId, locationId, userId, notificationIds',
  '/v2/notifications/update': `organizationId, documentId, userId, locationId, verifyUserPermissions, notifications[]{id, readByUserIds, persistReadForUsers, ${NOTIFICATION}}`,
  '/v2/notifications/delete': 'organizationId, documentId, locationId, userId, notificationIds',
  '/v2/notifications/config/get': 'organizationId, userId, documentIds, getOrganizationConfig',
  '/v2/notifications/config/set': 'organizationId, userIds, documentIds, config{inbox, email, slack, ownChannel}',
  '/v2/commentannotations/add': `organizationId, documentId, createOrganization, createDocument, verifyUserPermissions, commentAnnotations[]{annotationId, type, commentType, commentData[]${COMMENT}, comments[]${COMMENT}, ${THREAD_FIELDS}}`,
  '/v2/commentannotations/get':
    `${THREADS}, documentIds, groupByDocumentId, folderId, mentionedUserIds, resolvedBy, statusIds, statusId, order, updatedAfter, updatedBefore, createdAfter, ` +
    'createdBefore, agentId, executionId, agentType, agentSource, agentSuggestions, agentComments, includeMetadata, includePageInfo, pageSize, pageToken',
  '/v2/commentannotations/count/get': 'organizationId, documentIds, userId, statusIds',
  '/v2/commentannotations/update': `${THREADS}, updatedData{statusUpdatedByUserId, resolvedByUserId, from${USER}, ${THREAD_FIELDS}}, updateUsers[]{oldUser${USER}, newUser${USER}}`,
  '/v2/commentannotations/delete': `${THREADS}, agentId, agentSuggestions, agentUrls`,
  '/v2/commentannotations/comments/add': `organizationId, documentId, annotationId, createOrganization, createDocument, verifyUserPermissions, commentData[]${COMMENT}, comments[]${COMMENT}`,
  '/v2/commentannotations/comments/get': 'organizationId, documentId, annotationId, userIds, commentIds',
  '/v2/commentannotations/comments/update':
    'organizationId, documentId, annotationId, commentIds, userIds, triggerNotification, ' +
    `updatedData{commentText, commentHtml, from${USER}, to[]${USER}, context{access}, taggedUserContacts[]{any}, attachments[]{any}, ${PROGRESS}, ${ACTIONS}}`,
  '/v2/commentannotations/comments/delete': 'organizationId, documentId, annotationId, commentIds, userIds',
};

/** Returns a value with the fields that a text of `documentedFields` names. */
export function sampleOf(fields: string): Record<string, unknown> {
  const tokens = fields.match(/[^{}\[\],\s]+|[{}]|\[\]/g) ?? [];
  const object = (): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    for (let name = tokens.shift(); name !== undefined && name !== '}'; name = tokens.shift()) {
      const isList = tokens[0] === '[]' && tokens.shift() !== undefined;
      const value = tokens[0] === '{' && tokens.shift() !== undefined ? object() : 'x';
      made[name] = isList ? [value] : value;
    }
    return made;
  };
  return object();
}
