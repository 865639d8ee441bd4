import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as registry from '../../../functions/index.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { hasOwnCases } from '../../support/describeEndpoint.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { newWorkspace, type TestWorkspace } from '../../support/workspaces.ts';

/** All texts of the first tenant contain this mark. Answers to the second tenant must not contain it. */
const MARK = 'OF-THE-FIRST';

forAllTests(startEngine);
let first: Customer;
let second: Customer;
let firstWorkspace: TestWorkspace;
let secondWorkspace: TestWorkspace;
let pageToken: string;
let activityToken: string;
let recordingToken: string;
let folderToken: string;
let editorKey: string;
let editorVersion: number;
let editorUpdate: string;
let webhookEndpointId: string;
let webhookIterator: string;
let messageIterator: string;
let erasureJobId: string;
let agentId: string;
let agentGroupId: string;

beforeAll(async () => {
  [first, second] = [await newCustomer(), await newCustomer()];
  [firstWorkspace, secondWorkspace] = [await newWorkspace(), await newWorkspace()];
  await first.ok('/v2/organizations/add', {
    organizations: [
      { organizationId: 'acme', organizationName: MARK, note: MARK },
      { organizationId: 'beta', organizationName: MARK },
    ],
  });
  await first.addFolders(['folder', 'other folder'].map((folderId) => ({ folderId, folderName: MARK })));
  await first.addDocuments([{ documentId: 'document', documentName: MARK, metadata: { note: MARK } }], {
    folderId: 'folder',
  });
  await first.addUsers([{ userId: 'user', name: MARK, email: `${MARK}@example.com` }]);
  await first.ok('/v2/organizations/usergroups/add', {
    organizationId: 'acme',
    organizationUserGroups: [{ groupId: 'group', groupName: MARK }],
  });
  await first.ok('/v2/organizations/usergroups/users/add', { ...group, userIds: ['user'] });
  await first.grant('user', { ...resources[0], context: { access: { mark: MARK } } });
  await first.ok('/v2/workspace/emailconfig/update', { emailServiceConfig: { apiKey: MARK, fromCompany: MARK } });
  await first.ok('/v2/workspace/permissionproviderconfig/update', {
    permissionProviderConfig: { permissionProviderUrl: `https://example.com/${MARK}`, authToken: MARK },
  });
  await first.ok('/v2/workspace/apikeyconfig/update', {
    requireJwtToken: true,
    aiModelApiKey: [{ provider: 'openai', customerApiKey: `key-${MARK}` }],
  });
  await first.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { enabledTime: 1 } });
  for (const customer of [first, second])
    await customer.ok('/v2/workspace/activityconfig/update', {
      activityServiceConfig: { isEnabled: true, immutable: false },
    });
  await first.untyped('/v2/activities/add', {
    ...document,
    activities: ['activity', 'another'].map((id) => ({
      id,
      featureType: 'custom',
      actionType: MARK,
      actionUser: { userId: 'user', name: MARK },
      targetEntityId: 'target',
      entityData: MARK,
    })),
  });
  await first.addRecordings(
    ['recording', 'another'].map((annotationId) => ({
      annotationId,
      recordingType: 'audio',
      from: { userId: 'user', name: MARK },
      displayName: MARK,
    })),
    document,
  );
  await first.ok('/v2/commentannotations/add', {
    ...document,
    commentAnnotations: [
      { annotationId: 'thread', commentData: [{ commentText: MARK, from: { userId: 'user', name: MARK } }] },
    ],
  });
  await first.addReactions(
    [
      {
        annotationId: 'reaction',
        icon: '👍',
        from: { userId: 'user', name: MARK },
        commentAnnotationId: 'thread',
        commentId: 1,
      },
    ],
    document,
  );
  await first.ok('/v2/memory/judgments/add', {
    ...document,
    judgments: [
      {
        recordId: 'judgment',
        decision: MARK,
        reasoning: MARK,
        content: MARK,
        annotationId: 'thread',
        actionUser: { userId: 'user', name: MARK },
      },
    ],
  });
  await first.ok('/v2/notifications/add', {
    ...document,
    notificationId: 'notification',
    actionUser: { userId: 'user', name: MARK },
    notifyUsers: [{ userId: 'user' }],
    displayHeadlineMessageTemplate: MARK,
    displayBodyMessage: MARK,
    location: { id: 'location' },
  });
  await first.ok('/v2/crdt/add', { ...document, editorId: 'editor', type: 'text', data: MARK, userId: 'user' });
  ({
    editorKey,
    version: editorVersion,
    update: editorUpdate,
  } = await first.ok('/v2/crdt/updates/get', {
    ...document,
    editorId: 'editor',
  }));
  await first.ok('/v2/notifications/config/set', {
    organizationId: 'acme',
    userIds: ['user'],
    config: { inbox: 'MINE' },
  });
  ({ pageToken: activityToken } = (
    await first.call('/v2/activities/get', { organizationId: 'acme', pageSize: 1 })
  ).body.result);
  ({ nextPageToken: folderToken } = (
    await first.call('/v2/organizations/folders/get', { organizationId: 'acme', pageSize: 1 })
  ).body.result);
  ({ pageToken: recordingToken } = (
    await first.call('/v2/recordings/get', { organizationId: 'acme', pageSize: 1 })
  ).body.result);
  await first.ok('/v2/workspace/notificationconfig/update', {
    notificationServiceConfig: { delayConfig: { delaySeconds: 10 } },
  });
  await first.ok('/v2/workspace/domains/add', { domains: ['first.example'] });
  for (const customer of [first, second])
    await customer.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
  for (const uid of ['taken', 'other']) {
    ({ id: webhookEndpointId } = await first.ok('/v2/workspace/advancedwebhook/endpoints/create', {
      url: `https://example.com/${MARK}`,
      description: MARK,
      channels: [MARK],
      metadata: { mark: MARK },
      uid,
    }));
  }
  for (const eventId of ['first-event', 'second-event'])
    await first.ok('/v2/events/publish', {
      event: 'comment.add',
      organizationId: 'acme',
      documentId: 'document',
      eventId,
      channels: [MARK],
      data: { note: MARK },
    });
  ({ agentId } = await first.ok('/v2/agents/create', {
    name: MARK,
    description: MARK,
    instructions: MARK,
    metadata: { mark: MARK },
  }));
  await first.ok('/v2/agents/version/update', { agentId, rawInstructions: MARK });
  agentGroupId = (
    await first.ok('/v2/agents/groups/create', { name: MARK, agentIds: [agentId], metadata: { mark: MARK } })
  ).group.id;
  await first.ok('/v2/agents/update', { agentId: 'spell-check', enabled: false });
  ({ jobId: erasureJobId } = await first.ok('/v2/users/data/delete', { userIds: ['nobody'] }));
  ({ iterator: messageIterator } = await first.ok('/v2/workspace/advancedwebhook/messages/get', { limit: 1 }));
  ({ iterator: webhookIterator } = await first.ok('/v2/workspace/advancedwebhook/endpoints/get', { limit: 1 }));
  await first.ok('/v2/workspace/webhookconfig/update', {
    webhookServiceConfig: { authToken: MARK, rawNotificationUrl: `https://example.com/${MARK}` },
  });
  ({ nextPageToken: pageToken } = (await first.call('/v2/organizations/get', { pageSize: 1 })).body.result);
});

const document = { organizationId: 'acme', documentId: 'document' };
const thread = { ...document, annotationId: 'thread' };
const theirs = { organizationId: 'theirs', documentId: 'theirs' };
const byAgent = (id: string) => ({
  commentText: 'theirs',
  from: { userId: 'user' },
  agent: {
    agentSource: 'svc',
    agentId: id,
    executionId: 'run',
    reason: { title: 't', description: 'd', severity: 'low' },
  },
});
const group = { organizationId: 'acme', organizationUserGroupId: 'group' };
const resources = [{ type: 'document', id: 'document', organizationId: 'acme' }];

/** By endpoint: requests of the second tenant that name ids of the first tenant. Endpoints without input need none. */
const cases: Record<string, () => object[]> = {
  '/v1/notifications/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', userId: 'user', notificationIds: ['notification'] },
  ],
  '/v1/organizations/documents/locations/data/delete': () =>
    [first, second].map(({ apiKey, authToken }) => ({
      apiKey,
      authToken,
      documentId: 'document',
      location: { id: 'location' },
    })),
  '/v1/organizations/documents/locations/update': () =>
    [first, second].flatMap(({ apiKey, authToken }) =>
      [{}, { organizationId: 'acme' }].map((more) => ({
        apiKey,
        authToken,
        documentId: 'document',
        ...more,
        migrate: { oldLocation: { id: 'location' }, newLocation: { id: 'theirs' } },
      })),
    ),
  '/v2/activities/add': () => [
    {
      ...document,
      activities: [
        { id: 'activity', featureType: 'comment', actionType: 'comment.add', actionUser: { userId: 'user' } },
      ],
    },
  ],
  '/v2/activities/delete': () => [
    { organizationId: 'acme', activityIds: ['activity'] },
    document,
    { organizationId: 'acme', targetEntityId: 'target' },
  ],
  '/v2/activities/get': () => [
    { organizationId: 'acme' },
    document,
    { organizationId: 'acme', activityIds: ['activity'] },
    { organizationId: 'acme', targetEntityId: 'target' },
    { organizationId: 'acme', pageToken: activityToken },
  ],
  '/v2/activities/update': () => [{ organizationId: 'acme', activities: [{ id: 'activity', actionIcon: 'theirs' }] }],
  '/v2/agents/create': () => [{ name: 'theirs' }],
  '/v2/agents/delete': () => [{ agentId }],
  '/v2/agents/extract': () => [{ fileBase64: Buffer.from('name\nMine').toString('base64'), mimeType: 'text/csv' }],
  '/v2/agents/get': () => [{}, { agentId }, { groupId: agentGroupId }, { agentId: agentGroupId }],
  '/v2/agents/groups/add-agents': () => [
    { groupId: agentGroupId, agentIds: ['spell-check'] },
    { groupId: agentGroupId, agentIds: [agentId] },
  ],
  '/v2/agents/groups/create': () => [{ name: 'theirs', agentIds: [agentId] }],
  '/v2/agents/groups/delete': () => [{ groupId: agentGroupId }],
  '/v2/agents/groups/get': () => [{ groupId: agentGroupId }],
  '/v2/agents/groups/remove-agents': () => [{ groupId: agentGroupId, agentIds: [agentId] }],
  '/v2/agents/groups/update': () => [{ groupId: agentGroupId, name: 'theirs' }],
  '/v2/agents/update': () => [
    { agentId, name: 'theirs' },
    { agentId: 'spell-check', enabled: true },
  ],
  '/v2/agents/version/update': () => [{ agentId, instructions: 'theirs' }],
  '/v2/agents/versions/list': () => [{ agentId }],
  '/v2/agents/versions/restore': () => [{ agentId }],
  '/v2/commentannotations/add': () => [
    {
      ...document,
      createDocument: true,
      commentAnnotations: [
        { annotationId: 'thread', commentData: [{ commentText: 'theirs', from: { userId: 'user' } }] },
      ],
    },
    {
      ...theirs,
      createOrganization: true,
      createDocument: true,
      commentAnnotations: [agentId, 'spell-check'].map((id) => ({ annotationId: id, commentData: [byAgent(id)] })),
    },
  ],
  '/v2/commentannotations/count/get': () => [{ organizationId: 'acme', documentIds: ['document'], userId: 'user' }],
  '/v2/commentannotations/delete': () => [
    { ...document, annotationIds: ['thread'] },
    { ...document, userIds: ['user'] },
  ],
  '/v2/commentannotations/get': () => [
    document,
    { organizationId: 'acme' },
    { ...document, annotationIds: ['thread'] },
    { organizationId: 'acme', annotationIds: ['thread'] },
  ],
  '/v2/commentannotations/update': () => [
    { ...document, annotationIds: ['thread'], updatedData: { status: 'RESOLVED' } },
  ],
  '/v2/commentannotations/comments/add': () => [
    { ...thread, commentData: [{ commentText: 'theirs', from: { userId: 'user' } }] },
    { ...theirs, annotationId: 'spell-check', commentData: [byAgent(agentId)] },
  ],
  '/v2/commentannotations/comments/delete': () => [thread, { ...thread, commentIds: [1] }],
  '/v2/commentannotations/comments/get': () => [thread, { ...thread, commentIds: [1] }],
  '/v2/commentannotations/comments/update': () => [{ ...thread, updatedData: { commentText: 'theirs' } }],
  '/v2/crdt/add': () => [{ ...document, editorId: 'editor', type: 'text', data: 'theirs' }],
  '/v2/crdt/delete': () => [{ ...document, editorIds: ['editor'] }, document],
  '/v2/crdt/get': () => [{ ...document, editorId: 'editor' }, document],
  '/v2/crdt/update': () => [{ ...document, editorId: 'editor', type: 'text', data: 'theirs' }],
  '/v2/crdt/updates/get': () => [
    { ...document, editorId: 'editor' },
    { ...document, editorId: 'editor', version: editorVersion },
    { ...document, editorId: 'editor', editorKey },
  ],
  '/v2/crdt/updates/push': () => [
    { ...document, editorId: 'editor', update: editorUpdate },
    { ...document, editorId: 'editor', editorKey, update: editorUpdate },
  ],
  '/v2/memory/judgments/add': () => [
    {
      ...document,
      judgments: [{ recordId: 'judgment', decision: 'theirs', reasoning: 'theirs', actionUser: { userId: 'user' } }],
    },
  ],
  '/v2/memory/judgments/query': () => [
    {},
    { organizationId: 'acme' },
    document,
    { organizationId: 'acme', annotationId: 'thread' },
  ],
  '/v2/memory/search': () => [
    { query: MARK.slice(0, 3) },
    { query: 'theirs', ...document },
    { query: 'theirs', scope: 'apiKey', ...document },
    { recencyDays: 365 },
    { organizationId: 'acme', filters: { annotationId: 'thread' } },
  ],
  '/v2/notifications/add': () => [
    {
      ...document,
      notificationId: 'notification',
      actionUser: { userId: 'user' },
      notifyUsers: [{ userId: 'user' }],
      displayHeadlineMessageTemplate: 'theirs',
      displayBodyMessage: 'theirs',
    },
  ],
  '/v2/notifications/config/get': () => [
    { organizationId: 'acme', userId: 'user', documentIds: ['document'], getOrganizationConfig: true },
  ],
  '/v2/notifications/config/set': () => [{ organizationId: 'acme', userIds: ['user'], config: { inbox: 'NONE' } }],
  '/v2/notifications/delete': () => [
    { organizationId: 'acme', notificationIds: ['notification'] },
    { organizationId: 'acme', userId: 'user' },
  ],
  '/v2/notifications/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', userId: 'user' },
    { organizationId: 'acme', notificationIds: ['notification'] },
  ],
  '/v2/notifications/update': () => [
    { organizationId: 'acme', notifications: [{ id: 'notification', displayBodyMessage: 'theirs' }] },
  ],
  '/v2/reactions/add': () => [
    { ...document, reactions: [{ annotationId: 'reaction', icon: '👍', from: { userId: 'theirs' } }] },
  ],
  '/v2/reactions/delete': () => [{ ...document, annotationIds: ['reaction'] }],
  '/v2/recordings/add': () => [
    { ...document, recordings: [{ annotationId: 'recording', recordingType: 'audio', from: { userId: 'user' } }] },
  ],
  '/v2/recordings/get': () => [
    { organizationId: 'acme' },
    { ...document, recordingIds: ['recording'] },
    { organizationId: 'acme', recordingIds: ['recording'] },
    { organizationId: 'acme', pageToken: recordingToken },
  ],
  '/v1/auth/token/get': () => [
    { apiKey: second.apiKey, authToken: second.authToken, userId: 'user', userProperties: { organizationId: 'acme' } },
  ],
  '/v2/auth/generate_signature': () => [
    { permissions: [{ userId: 'user', resourceId: 'document', type: 'document', hasAccess: true }] },
  ],
  '/v2/auth/generate_token': () => [
    { userId: 'user', userProperties: { name: 'theirs', email: 'theirs@example.com' }, permissions: { resources } },
  ],
  '/v2/auth/permissions/add': () => [{ user: { userId: 'user' }, permissions: { resources } }],
  '/v2/auth/permissions/get': () => [
    { organizationId: 'acme', userIds: ['user'], documentIds: ['document'], folderIds: ['folder'] },
  ],
  '/v2/auth/permissions/remove': () => [{ userId: 'user', permissions: { resources } }],
  '/v2/auth/token/get': () => [
    { userId: 'user', userProperties: { organizationId: 'acme' }, permissions: { resources } },
  ],
  '/v2/events/publish': () => [{ event: 'comment.add', organizationId: 'acme', eventId: 'first-event' }],
  '/v2/organizations/access/disablestate/update': () => [{ organizationIds: ['acme', 'beta'], disabled: true }],
  '/v2/organizations/add': () => [{ organizations: [{ organizationId: 'beta' }] }],
  '/v2/organizations/delete': () => [{ organizationIds: ['acme', 'beta'] }],
  '/v2/organizations/update': () => [
    { organizations: [{ organizationId: 'acme', organizationName: 'theirs', note: 'theirs' }] },
  ],
  '/v2/organizations/documents/access/update': () => [
    { organizationId: 'acme', documentIds: ['document'], accessType: 'restricted' },
  ],
  '/v2/organizations/documents/add': () => [
    { organizationId: 'acme', folderId: 'folder', documents: [{ documentId: 'theirs' }] },
  ],
  '/v2/organizations/documents/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', documentIds: ['document'] },
    { organizationId: 'acme', folderId: 'folder' },
  ],
  '/v2/organizations/documents/access/disablestate/update': () => [
    { organizationId: 'acme', documentIds: ['document'], disabled: true },
  ],
  '/v2/organizations/documents/count/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', folderId: 'folder' },
  ],
  '/v2/organizations/documents/delete': () => [{ organizationId: 'acme', documentIds: ['document'] }],
  '/v2/organizations/documents/move': () => [{ organizationId: 'acme', documentIds: ['document'], folderId: 'root' }],
  '/v2/organizations/documents/update': () => [
    { organizationId: 'acme', documents: [{ documentId: 'document', documentName: 'theirs' }] },
  ],
  '/v2/organizations/folders/access/update': () => [
    { organizationId: 'acme', folderIds: ['folder'], accessType: 'restricted' },
  ],
  '/v2/organizations/folders/add': () => [
    { organizationId: 'acme', folders: [{ folderId: 'theirs', parentFolderId: 'folder' }] },
  ],
  '/v2/organizations/folders/delete': () => [{ organizationId: 'acme', folderId: 'folder' }],
  '/v2/organizations/folders/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', folderId: 'folder' },
    { organizationId: 'acme', pageToken: folderToken },
  ],
  '/v2/organizations/folders/update': () => [
    { organizationId: 'acme', folders: [{ folderId: 'folder', folderName: 'theirs' }] },
  ],
  '/v2/organizations/get': () => [{}, { organizationIds: ['acme', 'beta'] }, { pageToken }],
  '/v1/organizations/usergroups/users/delete': () => [
    { ...group, userIds: ['user'] },
    { ...group, deleteAll: true },
  ],
  '/v2/organizations/usergroups/add': () => [
    { organizationId: 'acme', organizationUserGroups: [{ groupId: 'group' }] },
  ],
  '/v2/organizations/usergroups/get': () => [
    { organizationId: 'acme', includeUsers: true },
    { organizationId: 'acme', organizationUserGroupIds: ['group'], includeUsers: true },
  ],
  '/v2/organizations/usergroups/users/add': () => [{ ...group, userIds: ['user', 'theirs'] }],
  '/v2/users/add': () => [
    { organizationId: 'acme', users: [{ userId: 'user' }] },
    { organizationId: 'acme', documentId: 'document', users: [{ userId: 'user' }] },
  ],
  '/v2/users/count/get': () => [{ organizationId: 'acme' }, { organizationId: 'acme', documentIds: ['document'] }],
  '/v2/users/delete': () => [
    { organizationId: 'acme', userIds: ['user'] },
    { organizationId: 'acme', documentId: 'document', userIds: ['user'] },
    { organizationId: 'acme', folderId: 'folder', userIds: ['user'] },
  ],
  '/v2/users/get': () => [
    { organizationId: 'acme' },
    { organizationId: 'acme', userIds: ['user'] },
    { organizationId: 'acme', documentId: 'document' },
    { organizationId: 'acme', organizationUserGroupIds: ['group'] },
    { organizationId: 'acme', allDocuments: true },
  ],
  '/v2/users/update': () => [{ organizationId: 'acme', users: [{ userId: 'user', name: 'theirs' }] }],
  '/v2/users/data/delete': () => [{ userIds: ['user'] }, { userIds: ['user'], organizationIds: ['acme'] }],
  '/v2/users/data/delete/status': () => [{ jobId: erasureJobId }],
  '/v2/users/data/get': () => [{ organizationId: 'acme', userId: 'user' }],
  '/v2/workspace/activityconfig/update': () => [
    { activityServiceConfig: { triggers: { comment: { updated: false } } } },
  ],
  '/v2/workspace/advancedwebhook/attempts/get': () => [
    { messageId: 'first-event' },
    { messageId: 'first-event', endpointId: webhookEndpointId },
  ],
  '/v2/workspace/advancedwebhook/messages/get': () => [
    {},
    { endpointId: webhookEndpointId },
    { iterator: messageIterator },
  ],
  '/v2/workspace/advancedwebhook/messages/resend': () => [{ messageId: 'first-event', endpointId: webhookEndpointId }],
  '/v2/workspace/advancedwebhook/endpoints/recover': () => [
    { endpointId: webhookEndpointId, since: 0 },
    { endpointId: webhookEndpointId, since: new Date().toISOString() },
  ],
  '/v2/workspace/advancedwebhook/endpoints/test': () => [{ endpointId: webhookEndpointId }],
  '/v2/workspace/advancedwebhook/endpoints/create': () => [{ url: 'https://example.com/theirs', uid: 'taken' }],
  '/v2/workspace/advancedwebhook/endpoints/delete': () => [{ endpointId: webhookEndpointId }],
  '/v2/workspace/advancedwebhook/endpoints/get': () => [{}, { iterator: webhookIterator }],
  '/v2/workspace/advancedwebhook/endpoints/secret/get': () => [{ endpointId: webhookEndpointId }],
  '/v2/workspace/advancedwebhook/endpoints/secret/rotate': () => [{ endpointId: webhookEndpointId, overlapSeconds: 0 }],
  '/v2/workspace/advancedwebhook/endpoints/update': () => [{ endpointId: webhookEndpointId, disabled: true }],
  '/v2/workspace/advancedwebhookconfig/update': () => [{ encodeData: true }, { isEnabled: false }],
  '/v2/workspace/apikey/create': () => [{ ownerEmail: firstWorkspace.ownerEmail, type: 'testing' }],
  '/v2/workspace/apikey/update': () => [{ apiKey: firstWorkspace.apiKey, apiKeyName: 'taken over' }],
  '/v2/workspace/apikeyconfig/update': () => [
    { requireAutoOrgUser: true, aiModelApiKey: [{ provider: 'openai', customerApiKey: 'theirs' }] },
  ],
  '/v2/workspace/apikeys/get': () => [{}, { apiKeys: [firstWorkspace.apiKey] }],
  '/v2/workspace/authtoken/reset': () => [{ apiKey: firstWorkspace.apiKey }],
  '/v2/workspace/authtokens/get': () => [{ apiKey: firstWorkspace.apiKey }],
  '/v2/workspace/create': () => [{ ownerEmail: firstWorkspace.ownerEmail }],
  '/v2/workspace/domains/add': () => [{ domains: ['theirs.example'] }],
  '/v2/workspace/domains/delete': () => [{ domains: ['first.example'] }],
  '/v2/workspace/email/send-login-link': () => [
    { email: firstWorkspace.ownerEmail, continueUrl: 'https://api.test/' },
    { email: firstWorkspace.ownerEmail, continueUrl: 'https://elsewhere.example/' },
  ],
  '/v2/workspace/email/status': () => [{ ownerEmail: firstWorkspace.ownerEmail }],
  '/v2/workspace/emailconfig/update': () => [
    { emailServiceConfig: { fromEmail: 'theirs@example.com' } },
    { useEmailService: true },
  ],
  '/v2/workspace/notificationconfig/update': () => [
    { notificationServiceConfig: { delayConfig: { isEnabled: true } } },
  ],
  '/v2/workspace/permissionproviderconfig/update': () => [{ usePermissionProvider: true }],
  '/v2/workspace/webhookconfig/update': () => [
    { useWebhookService: true },
    { webhookServiceConfig: { authToken: '' } },
  ],
};

const covered = Object.values(registry as Record<string, Endpoint>).filter(
  ({ path, twinOf = path }) => !hasOwnCases(twinOf),
);

/** Returns the credentials of the second tenant for an auth level. */
function headersFor(auth: Endpoint['auth']): Record<string, string> {
  if (auth === 'workspace') return secondWorkspace.headers;
  if (auth === 'apiKey') return second.headers;
  return {};
}

describe.each(covered)('$path', ({ path, twinOf, auth, example }) => {
  test("returns no data of another tenant for that tenant's ids and page tokens", async () => {
    const requests = cases[twinOf ?? path]?.() ?? (isDeepStrictEqual(example.data, {}) ? [{}] : undefined);
    if (!requests) throw new Error(`${path} has no case: what would a second tenant send to reach the first?`);
    for (const data of requests) {
      const { status, body } = await post(handlerOf(path), headersFor(auth), data);
      expect(status).toBeLessThan(500);
      const text = JSON.stringify(body);
      for (const foreign of [
        MARK,
        firstWorkspace.apiKey,
        firstWorkspace.authToken,
        firstWorkspace.id,
        firstWorkspace.workspaceAuthToken,
      ])
        expect(text).not.toContain(foreign);
    }
  });
});

test('the requests of the second tenant change no item of the first tenant', async () => {
  expect((await first.call('/v2/memory/search', { query: MARK })).body.result).toMatchObject({
    results: [{ recordId: 'judgment', decision: MARK, reasoning: MARK }],
    totalInScope: 1,
  });
  expect(await first.ok('/v2/organizations/get', {})).toEqual([
    { note: MARK, id: 'acme', organizationName: MARK, disabled: false },
    { id: 'beta', organizationName: MARK, disabled: false },
  ]);
  expect(await first.ok('/v2/organizations/documents/get', { organizationId: 'acme' })).toMatchObject([
    { id: 'document', documentName: MARK, accessType: 'public' },
  ]);
  expect(await first.ok('/v2/organizations/folders/get', { organizationId: 'acme' })).toMatchObject(
    ['folder', 'other folder'].map((folderId) => ({ folderId, folderName: MARK, accessType: 'public' })),
  );
  expect(await first.ok('/v2/users/get', { organizationId: 'acme' })).toMatchObject([{ userId: 'user', name: MARK }]);
  expect(
    (
      await first.ok('/v2/auth/permissions/get', {
        organizationId: 'acme',
        userIds: ['user'],
        documentIds: ['document'],
      })
    ).user,
  ).toEqual({
    documents: { document: { accessRole: 'editor', accessType: 'public' } },
    organization: { acme: { accessRole: 'editor' } },
    context: { accessFields: [`mark:${MARK}`] },
  });
  expect(
    await first.ok('/v2/organizations/usergroups/get', { organizationId: 'acme', includeUsers: true }),
  ).toMatchObject([{ groupId: 'group', groupName: MARK, users: [{ userId: 'user', name: MARK }] }]);
  expect(await first.ok('/v2/workspace/emailconfig/get', {})).toMatchObject({
    useEmailService: false,
    emailServiceConfig: { apiKey: MARK, fromCompany: MARK, fromEmail: '' },
  });
  expect(await first.ok('/v2/workspace/permissionproviderconfig/get', {})).toEqual({
    usePermissionProvider: false,
    permissionProviderConfig: { permissionProviderUrl: `https://example.com/${MARK}`, authToken: MARK },
  });
  expect(await first.ok('/v2/workspace/apikeyconfig/get', {})).toMatchObject({
    requireJwtToken: true,
    requireAutoOrgUser: false,
    aiModelsConfig: { openai: { displayText: '****IRST' } },
  });
  expect(await first.ok('/v2/workspace/activityconfig/get', {})).toMatchObject({
    activityServiceConfig: {
      isEnabled: true,
      enabledTime: 1,
      immutable: false,
      triggers: { comment: { updated: true } },
    },
  });
  expect(
    (await first.ok('/v2/activities/get', { organizationId: 'acme', order: 'asc' })).map(
      ({ id, entityData, actionIcon }: any) => [id, entityData, actionIcon],
    ),
  ).toEqual([
    ['activity', MARK, undefined],
    ['another', MARK, undefined],
  ]);
  expect(
    (await first.ok('/v2/recordings/get', { organizationId: 'acme' })).map(({ annotationId, displayName }: any) => [
      annotationId,
      displayName,
    ]),
  ).toEqual([
    ['recording', MARK],
    ['another', MARK],
  ]);
  expect(await first.ok('/v2/commentannotations/get', document)).toMatchObject([
    { annotationId: 'thread', status: { id: 'OPEN' }, comments: [{ commentText: MARK }] },
  ]);
  expect(await first.ok('/v2/commentannotations/comments/get', thread)).toMatchObject([
    { commentText: MARK, reactionAnnotations: [{ fromUsers: [{ from: { userId: 'user' } }] }] },
  ]);
  expect(await first.ok('/v2/crdt/get', document)).toMatchObject([{ id: 'editor', data: MARK }]);
  expect(await first.ok('/v2/notifications/get', { organizationId: 'acme' })).toMatchObject([
    { id: 'notification', displayBodyMessage: MARK },
  ]);
  expect(
    (
      await first.ok('/v2/notifications/config/get', {
        organizationId: 'acme',
        userId: 'user',
        getOrganizationConfig: true,
      })
    )[0].config.inbox,
  ).toBe('MINE');
  expect(await first.ok('/v2/workspace/notificationconfig/get', {})).toEqual({
    useNotificationService: false,
    notificationServiceConfig: { delayConfig: { delaySeconds: 10 } },
  });
  expect(await first.ok('/v2/workspace/domains/get', {})).toEqual({ allowedDomains: ['first.example'] });
  expect(
    (await first.ok('/v2/workspace/advancedwebhook/messages/get', {})).messages
      .slice(0, 2)
      .map(({ id, channels, deliveries }: any) => [id, channels, deliveries]),
  ).toEqual([
    ['second-event', [MARK], []],
    ['first-event', [MARK], []],
  ]);
  expect(await first.ok('/v2/workspace/advancedwebhookconfig/get', {})).toMatchObject({
    isEnabled: true,
    encodeData: false,
  });
  expect(
    (await first.ok('/v2/workspace/advancedwebhook/endpoints/get', {})).endpoints
      .map(({ uid, description, disabled }: any) => [uid, description, disabled])
      .sort(),
  ).toEqual([
    ['other', MARK, false],
    ['taken', MARK, false],
  ]);
  expect(await first.ok('/v2/workspace/webhookconfig/get', {})).toMatchObject({
    useWebhookService: false,
    webhookServiceConfig: { authToken: MARK },
  });
  expect(await first.ok('/v2/agents/get', { agentId })).toMatchObject({
    agent: { name: MARK, version: 2, instructions: MARK, rawInstructions: MARK },
  });
  expect(await first.ok('/v2/agents/groups/get', { groupId: agentGroupId })).toMatchObject({
    group: { name: MARK, agentIds: [agentId] },
  });
  expect(await first.ok('/v2/agents/get', { agentId: 'spell-check' })).toMatchObject({ agent: { enabled: false } });
  const { body } = await post(handlerOf('/v2/workspace/authtokens/get'), firstWorkspace.headers, {
    apiKey: firstWorkspace.apiKey,
  });
  expect(body.result.data.authTokens.map(({ token }: any) => token)).toEqual([firstWorkspace.authToken]);
});

test('an id names different resources for two tenants', async () => {
  await second.addDocuments(['document']);
  expect(await second.ok('/v2/organizations/documents/get', { organizationId: 'acme' })).toEqual([
    { id: 'document', disabled: false, accessType: 'public' },
  ]);
  expect(
    (
      await second.ok('/v2/auth/permissions/get', {
        organizationId: 'acme',
        userIds: ['user'],
        documentIds: ['document'],
      })
    ).user.documents.document.errorCode,
  ).toBe('permission_denied');
});
