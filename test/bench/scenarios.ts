import { isDeepStrictEqual } from 'node:util';
import { type Numbers, requestCosts } from '../../infra/cost/requests.ts';
import type { Endpoint, RequestCost } from '../../lib/app/endpoint.ts';
import { type AwsCall, type Cost, costOfCalls, type Recorder } from '../support/capacity.ts';
import type { Engine } from '../support/engine.ts';
import { endpoints, examplePaths, ExampleRun } from '../support/examples.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { deleteItem, everyItem, putItem } from '../support/items.ts';
import { type Headers, post, type Response } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { headersOf, newWorkspace, type TestWorkspace } from '../support/workspaces.ts';

/** A workspace with the data that the scenarios need. */
export interface Subject extends TestWorkspace {
  readonly endpointId: string;
  /** Two review agents, and a group that contains the first one. */
  readonly agentIds: readonly string[];
  readonly agentGroupId: string;
  /** Two versions of an editor. */
  readonly versionIds: readonly string[];
  /** The headers of a user of the document `loose`. */
  readonly user: Headers;
  /** The current version of an editor that no scenario changes. */
  readonly editorVersion: number;
}

/** One request of an endpoint, as customers send it. */
export interface Scenario {
  /** The path and what is special, such as `/v2/users/get a page`. */
  readonly name: string;
  readonly path: string;
  /**
   * Returns the `data` of the request. The request is sent twice, and the second answer is measured. `n` is different
   * each time, so that names of new resources are unique.
   */
  data(n: number, subject: Subject): unknown;
}

// Scenarios write to a separate organization, so that the cost of a read does not depend on earlier scenarios.
const busy = { organizationId: 'busy' };
const read = { organizationId: 'acme' };
const crowd = { organizationId: 'crowd' };
const CROWD = 100;
const loose = { ...busy, documentId: 'loose' };
const anActivity = {
  featureType: 'comment',
  actionType: 'comment.add',
  actionUser: { userId: 'ada', name: 'Ada Lovelace' },
};

const ada = { userId: 'ada' };
const inAcme = { ...read, documentId: 'nda' };
const inBusy = { ...busy, documentId: 'nda' };
const lawyers = { ...busy, organizationUserGroupId: 'lawyers' };
const talkRead = { ...inAcme, annotationId: 'talk' };
const talk = { ...talkRead, ...busy };
const reacting = (reaction: object) => ({ ...inBusy, reactions: [{ icon: '👍', from: ada, ...reaction }] });

const notification = {
  actionUser: { userId: 'grace' },
  notifyUsers: [{ userId: 'ada', email: 'ada@example.com' }],
  notifyAll: false,
  displayHeadlineMessageTemplate: '{actionUser} signed',
  displayBodyMessage: 'It is done.',
};

const aText = { editorId: 'summary', type: 'text', data: 'The engine weaves algebraic patterns.' };
/** Two updates of Yjs clients. Each inserts a letter into an empty text. The text has the key `content`. */
const typed = ['AQEBAAQBB2NvbnRlbnQBYQA=', 'AQECAAQBB2NvbnRlbnQBYgA='];

/** Returns a comment that an agent execution created. */
const findingOf = (agentId: string, executionId: string) => ({
  commentText: 'A finding',
  from: ada,
  agent: {
    agentSource: 'svc',
    agentId,
    executionId,
    reason: { title: 'Tone', description: 'It shouts.', severity: 'low' },
  },
});
const anMcpServer = {
  id: 'tools',
  url: 'https://mcp.example.com',
  auth: { type: 'bearer', token: 'a secret of theirs' },
};

const aJudgment = {
  decision: 'rejected',
  reasoning: 'The price is without VAT, and the page does not say so.',
  actionUser: { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
};

/**
 * Requests that read or write something else than the examples of their endpoints. Reads come before the writes that
 * would add to their results.
 */
const requests: Readonly<Record<string, Scenario['data']>> = {
  '/v2/organizations/add two': (n) => ({
    organizations: [{ organizationId: `two-${n}-a` }, { organizationId: `two-${n}-b` }],
  }),
  '/v2/organizations/get a page': () => ({ pageSize: 100 }),
  '/v2/organizations/folders/add one at the top': (n) => ({
    ...busy,
    folders: [{ folderId: `top-${n}`, folderName: 'Top' }],
  }),
  '/v2/organizations/folders/add one in a folder': (n) => ({
    ...busy,
    folders: [{ folderId: `sub-${n}`, parentFolderId: 'contracts' }],
  }),
  '/v2/organizations/documents/add one': (n) => ({
    ...busy,
    documents: [{ documentId: `one-${n}`, documentName: 'One' }],
  }),
  '/v2/organizations/documents/add one in a folder': (n) => ({
    ...busy,
    folderId: 'contracts',
    documents: [{ documentId: `filed-${n}` }],
  }),
  '/v2/organizations/documents/access/update one': (n) => ({
    ...busy,
    documentIds: ['nda'],
    accessType: n === 0 ? 'restricted' : 'public',
  }),
  '/v2/organizations/documents/access/disablestate/update one': (n) => ({
    ...busy,
    documentIds: ['one-0'],
    disabled: n === 0,
  }),
  '/v2/organizations/documents/move one to the top': (n) => ({
    ...busy,
    documentIds: [`filed-${n}`],
    folderId: 'root',
  }),
  '/v2/organizations/documents/move one into a folder': (n) => ({
    ...busy,
    documentIds: [`filed-${n}`],
    folderId: 'contracts',
  }),
  '/v2/organizations/documents/delete one': (n) => ({ ...busy, documentIds: [`one-${n}`] }),
  '/v2/organizations/documents/delete one of a folder': (n) => ({ ...busy, documentIds: [`filed-${n}`] }),
  '/v2/organizations/documents/count/get of an organization': () => crowd,
  '/v2/organizations/documents/count/get of a folder': () => ({ ...crowd, folderId: 'contracts' }),
  '/v2/organizations/folders/get one with those directly in it': () => ({ ...read, folderId: 'contracts' }),
  '/v2/organizations/folders/get two levels': () => ({ ...read, maxDepth: 2 }),
  '/v2/organizations/folders/update a name': (n) => ({
    ...busy,
    folders: [{ folderId: `top-${n}`, folderName: 'Renamed' }],
  }),
  '/v2/organizations/folders/update one moved to the top': (n) => ({
    organizationId: `moved-${n}`,
    folders: [{ folderId: 'drafts', parentFolderId: 'root' }],
  }),
  '/v2/organizations/folders/access/update one': (n) => ({
    organizationId: `opened-${n}`,
    folderIds: ['contracts'],
    accessType: 'public',
  }),
  '/v2/organizations/documents/get by id, while folders are moved': () => ({
    organizationId: 'moved-0',
    documentIds: ['nda'],
  }),
  '/v2/organizations/documents/get by id': () => ({ ...read, documentIds: ['loose'] }),
  '/v2/organizations/documents/get a page': () => ({ ...read, pageSize: 100 }),
  '/v2/organizations/documents/get a page of a folder': () => ({ ...read, folderId: 'contracts', pageSize: 100 }),
  '/v2/organizations/documents/get a hundred': () => ({ ...crowd, pageSize: CROWD }),
  '/v2/organizations/documents/get a hundred of a folder': () => ({ ...crowd, folderId: 'contracts', pageSize: CROWD }),
  '/v2/activities/get by id': () => ({ ...read, activityIds: ['one-of-many-7'] }),
  '/v2/activities/get a page of a document': () => ({ ...read, documentId: 'loose', pageSize: CROWD }),
  '/v2/activities/get a page of an organization': () => ({ ...read, pageSize: CROWD }),
  '/v2/activities/get a page of a target entity': () => ({ ...read, targetEntityId: 'signature', pageSize: 10 }),
  '/v2/activities/add one': () => ({ ...loose, activities: [anActivity] }),
  '/v2/activities/add one with an id': (n) => ({ ...loose, activities: [{ ...anActivity, id: `one-${n}` }] }),
  '/v2/activities/add one of a target entity': () => ({
    ...loose,
    activities: [{ ...anActivity, targetEntityId: 'signature' }],
  }),
  '/v2/activities/add a hundred': () => ({ ...loose, activities: times(CROWD, () => anActivity) }),
  '/v2/activities/update one': (n) => ({
    ...busy,
    activities: [{ id: 'one-of-many-7', displayMessageTemplate: `Changed ${n}` }],
  }),
  '/v2/activities/delete one by id': (n) => ({ ...busy, activityIds: [`one-of-many-${n}`] }),
  '/v2/commentannotations/get by id': () => ({ ...inAcme, annotationIds: ['talk'] }),
  '/v2/commentannotations/get a hundred': () => ({ ...crowd, documentId: 'one-of-many-0', pageSize: CROWD }),
  '/v2/commentannotations/get a hundred with the read state': () => ({
    ...crowd,
    documentId: 'one-of-many-0',
    pageSize: CROWD,
    userId: 'ada',
  }),
  '/v2/commentannotations/count/get of a document': () => ({ ...crowd, documentIds: ['one-of-many-0'], userId: 'ada' }),
  '/v2/commentannotations/add one': (n) => ({
    ...inBusy,
    commentAnnotations: [{ annotationId: `one-${n}`, commentData: [{ commentText: 'A comment', from: ada }] }],
  }),
  '/v2/commentannotations/add one that notifies users': (n) => ({
    ...inBusy,
    commentAnnotations: [
      {
        annotationId: `sent-${n}`,
        commentData: [{ commentText: 'A comment', from: ada, triggerNotification: true }],
      },
    ],
  }),
  '/v2/commentannotations/add one of an agent': (n, { agentIds: [agentId] }) => ({
    ...inBusy,
    commentAnnotations: [{ annotationId: `found-${n}`, commentData: [findingOf(agentId!, `run-${n}`)] }],
  }),
  '/v2/commentannotations/update one': (n) => ({
    ...inBusy,
    annotationIds: ['talk'],
    updatedData: { status: n === 0 ? 'RESOLVED' : 'OPEN' },
  }),
  '/v2/commentannotations/update one with a reason': (n) => ({
    ...inBusy,
    annotationIds: [`sent-${n}`],
    updatedData: { suggestion: { status: n === 0 ? 'accepted' : 'rejected' } },
    reason: 'It is fine.',
    actionUser: ada,
  }),
  '/v2/commentannotations/comments/get by id': () => ({ ...talkRead, commentIds: [1] }),
  '/v2/commentannotations/comments/get a page': () => talkRead,
  '/v2/commentannotations/comments/get a page with a reaction': () => ({ ...talkRead, annotationId: 'reacted' }),
  '/v2/commentannotations/comments/add one': () => ({ ...talk, commentData: [{ commentText: 'A reply', from: ada }] }),
  '/v2/commentannotations/comments/add one that notifies users': () => ({
    ...talk,
    commentData: [{ commentText: 'A reply', from: ada, triggerNotification: true }],
  }),
  '/v2/commentannotations/comments/add one of an agent': (n, { agentIds: [agentId] }) => ({
    ...talk,
    commentData: [findingOf(agentId!, `reply-${n}`)],
  }),
  '/v2/commentannotations/comments/delete one': (n) => ({ ...talk, commentIds: [2 + n] }),
  '/v2/crdt/get all of a document': () => inAcme,
  '/v2/crdt/updates/get everything': () => ({ ...inAcme, editorId: aText.editorId }),
  '/v2/crdt/updates/get nothing new': (_n, { editorVersion }) => ({
    ...inAcme,
    editorId: aText.editorId,
    version: editorVersion,
  }),
  '/v2/crdt/update one': (n) => ({ ...inBusy, ...aText, data: `Text ${n}` }),
  '/v2/crdt/updates/push one': (n) => ({ ...inBusy, editorId: aText.editorId, update: typed[n] }),
  '/v2/reactions/add one': (n) => reacting({ annotationId: `loose-${n}` }),
  '/v2/reactions/add one on a comment': (n) =>
    reacting({ annotationId: `on-${n}`, commentAnnotationId: 'talk', commentId: 1 }),
  '/v2/reactions/add one more user': (n) => reacting({ annotationId: 'shared', from: { userId: `user-${n}` } }),
  '/v2/reactions/add one that exists, unchanged': () => reacting({ annotationId: 'loose-0' }),
  '/v2/reactions/delete one': (n) => ({ ...inBusy, annotationIds: [`loose-${n}`] }),
  '/v2/reactions/delete one on a comment': (n) => ({ ...inBusy, annotationIds: [`on-${n}`] }),
  '/v2/memory/judgments/add one': (n) => ({ ...inBusy, judgments: [{ ...aJudgment, recordId: `one-${n}` }] }),
  '/v2/memory/judgments/add one with content': (n) => ({
    ...inBusy,
    judgments: [{ ...aJudgment, recordId: `content-${n}`, content: 'Only 49.90 a month' }],
  }),
  '/v2/memory/judgments/add one of a thread': (n) => ({
    ...inBusy,
    judgments: [{ ...aJudgment, recordId: `thread-${n}`, annotationId: 'talk' }],
  }),
  '/v2/memory/search a document': () => ({ ...inAcme, query: 'a price without tax' }),
  '/v2/memory/search an organization': () => ({ ...read, query: 'a price without tax' }),
  '/v2/memory/search everything': () => ({ query: 'a price without tax', filters: { reviewerId: 'grace' } }),
  '/v2/memory/search a thread': () => ({ ...read, filters: { annotationId: 'talk' } }),
  '/v2/memory/search the latest': () => ({ ...inAcme, recencyDays: 30 }),
  '/v2/memory/judgments/query the latest': () => inAcme,
  '/v2/memory/judgments/query a thread': () => ({ ...read, annotationId: 'talk' }),
  '/v2/notifications/add one': (n) => ({ ...inBusy, ...notification, notificationId: `one-${n}` }),
  '/v2/notifications/add one that exists': () => ({ ...inAcme, ...notification, notificationId: 'read' }),
  '/v2/notifications/add one to verified users': (n) => ({
    ...inBusy,
    ...notification,
    notificationId: `verified-${n}`,
    verifyUserPermissions: true,
  }),
  '/v2/notifications/get by id': () => ({ ...read, notificationIds: ['read'] }),
  '/v2/notifications/get a page of a document': () => ({ ...inAcme, pageSize: 100 }),
  '/v2/notifications/config/set of one user': (n) => ({
    ...busy,
    userIds: ['ada'],
    config: { inbox: n === 0 ? 'MINE' : 'ALL' },
  }),
  '/v2/users/data/get of one user': () => ({ ...read, userId: 'ada' }),
  '/v1/organizations/documents/locations/update of one notification': (n, { apiKey, authToken }) => ({
    apiKey,
    authToken,
    documentId: 'nda',
    migrate: { oldLocation: { id: `location-${n}` }, newLocation: { locationName: `Chapter ${n}` } },
    merge: true,
  }),
  '/v1/organizations/documents/locations/data/delete with one notification': (n, { apiKey, authToken }) => ({
    apiKey,
    authToken,
    documentId: 'nda',
    location: { id: `location-${n}` },
  }),
  '/v2/events/publish one': (n) => ({
    ...busy,
    event: 'huddle.create',
    eventId: `huddle-${n}`,
    data: { note: 'A huddle' },
  }),
  '/v2/events/publish one that exists': () => ({ ...busy, event: 'huddle.create', eventId: 'huddle-0' }),
  '/v2/workspace/advancedwebhook/messages/get a page': () => ({ limit: 1 }),
  '/v2/workspace/advancedwebhook/messages/get a page of an endpoint': (_n, { endpointId }) => ({
    endpointId,
    limit: 1,
  }),
  '/v2/recordings/get a page of a document': () => ({ ...read, documentId: 'loose' }),
  '/v2/recordings/get a page of an organization': () => read,
  '/v2/users/add one to a document': (n) => ({ ...busy, documentId: 'nda', users: [{ userId: `reader-${n}` }] }),
  '/v2/users/add one who exists, unchanged': () => ({ ...busy, users: [{ userId: 'ada', name: 'Ada Lovelace' }] }),
  '/v2/users/get a page': () => ({ ...read, pageSize: 100 }),
  '/v2/users/get a page of a document': () => ({ ...read, documentId: 'nda', pageSize: 100 }),
  '/v2/users/get a page of a group': () => ({ ...read, organizationUserGroupIds: ['lawyers'], pageSize: 100 }),
  '/v2/users/get a page of all documents': () => ({ ...read, allDocuments: true, pageSize: 100 }),
  '/v2/users/count/get of an organization': () => crowd,
  '/v2/users/count/get of one document': () => ({ ...read, documentIds: ['loose'] }),
  '/v2/users/update one': (n) => ({ ...busy, users: [{ userId: 'ada', name: `Ada ${n}` }] }),
  '/v2/users/update a role': (n) => ({ ...busy, users: [{ userId: 'ada', accessRole: n % 2 ? 'viewer' : 'editor' }] }),
  '/v2/users/delete one from an organization': (n) => ({ ...busy, userIds: [`user-${n}`] }),
  '/v2/users/delete one from a document': (n) => ({ ...busy, documentId: 'nda', userIds: [`reader-${n}`] }),
  '/v2/users/get a hundred': () => ({ ...crowd, pageSize: CROWD }),
  '/v2/organizations/usergroups/get by id': () => ({ ...read, organizationUserGroupIds: ['lawyers'] }),
  '/v2/organizations/usergroups/get a page': () => read,
  '/v2/organizations/usergroups/get a page with the users': () => ({ ...read, includeUsers: true }),
  '/v2/organizations/usergroups/users/add one who exists': () => ({ ...lawyers, userIds: ['ada'] }),
  '/v1/organizations/usergroups/users/delete all of fifty': (n) => ({
    ...busy,
    organizationUserGroupId: `fifty-${n}`,
    deleteAll: true,
  }),
  '/v2/auth/permissions/add one document': () => ({
    user: { userId: 'ada' },
    permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
  }),
  '/v2/auth/permissions/add one document, to a new user': (n) => ({
    user: { userId: `new-${n}` },
    permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
  }),
  '/v2/auth/permissions/get on the organization': () => ({ ...read, userIds: ['ada'] }),
  '/v2/auth/permissions/get on a folder': () => ({ ...read, userIds: ['ada'], folderIds: ['contracts'] }),
  '/v2/auth/permissions/get on a document': () => ({ ...read, userIds: ['ada'], documentIds: ['loose'] }),
  '/v2/auth/permissions/remove one document': () => ({
    userId: 'ada',
    permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
  }),
  '/v2/auth/generate_token for a known user and a document': () => ({
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
  }),
  '/v2/auth/token/get for a known member': () => ({ userId: 'ada', userProperties: busy }),
  '/v1/auth/token/get for a known member': (_n, { apiKey, authToken }) => ({
    apiKey,
    authToken,
    userId: 'ada',
    userProperties: busy,
  }),
  '/v2/agents/get a custom one': (_n, { agentIds: [agentId] }) => ({ agentId }),
  '/v2/agents/get a built-in one': () => ({ agentId: 'spell-check' }),
  '/v2/agents/get of a group': (_n, { agentGroupId }) => ({ groupId: agentGroupId }),
  '/v2/agents/create one': (n) => ({ name: `Agent ${n}`, instructions: 'Look for mistakes.' }),
  '/v2/agents/create one with a secret': (n) => ({
    name: `Agent ${n}`,
    execution: { executionStrategy: 'mcp-tools', mcpServers: [anMcpServer] },
  }),
  '/v2/agents/update a built-in one': (n) => ({ agentId: 'lorem-ipsum', enabled: n === 0 }),
  '/v2/agents/groups/add-agents one': (n, { agentIds, agentGroupId }) => ({
    groupId: agentGroupId,
    agentIds: [agentIds[n]],
  }),
  '/v2/workspace/apikeys/get by id': (_n, { apiKey }) => ({ apiKeys: [apiKey] }),
  '/v2/workspace/advancedwebhook/endpoints/create one': (n) => ({
    url: 'https://hooks.example.com',
    description: `Endpoint ${n}`,
  }),
  '/v2/users/invite/add one': (n) => ({ ...inBusy, type: 'doc_user', email: `user-${n}@example.com` }),
  '/v2/users/doc/get one': () => read,
  '/v2/crdt/versions/restore one': (n, { versionIds }) => ({
    ...inBusy,
    editorId: 'restored',
    versionId: versionIds[n],
  }),
  '/v2/livestate/broadcast one': (n) => ({ ...inBusy, liveStateDataId: 'clause', data: { n } }),
  '/v2/commentannotations/views/add one': (n) => ({
    ...loose,
    annotationIds: ['talk'],
    userId: 'bob',
    viewedAt: 1_000 + n,
  }),
  '/v2/notifications/count/get one': () => ({ ...busy, userId: 'bob' }),
  '/v2/live/connect one': () => loose,
};

export const endpointAt = (path: string): Endpoint => endpoints.get(path)!;
const pathOf = (name: string) => name.split(' ')[0]!;

export const scenarios: readonly Scenario[] = Object.entries(requests).map(([name, data]) => ({
  name,
  path: pathOf(name),
  data,
}));

const older = new Set(Object.keys(requestCosts).map(pathOf));

/** The pinned costs by the name of the request. Newer endpoints have theirs in their declarations. */
export const pinnedCosts: Readonly<Record<string, Numbers | undefined>> = {
  ...requestCosts,
  ...Object.fromEntries(
    examplePaths.flatMap((path) => {
      const { cost } = endpointAt(path);
      return older.has(path) ? [] : [[`${path} one`, cost && numbersOf(cost)]];
    }),
  ),
};

/** Each pinned request that is no scenario is the example of its endpoint. */
export const exampleRequests = Object.keys(pinnedCosts)
  .filter((name) => !Object.hasOwn(requests, name))
  .map((name) => ({ name, path: pathOf(name) }));

/** Creates the workspace. Each organization gets the data of the examples, and further data that scenarios read. */
export async function prepare(): Promise<Subject> {
  const workspace = await newWorkspace();
  const add = (path: string, changes: object = {}) =>
    send(endpointAt(path), workspace, { ...(endpointAt(path).example.data as object), ...changes });
  const all = times(CROWD, (index) => `one-of-many-${index}`);
  const crowdOf = {
    documents: all.map((documentId) => ({ documentId })),
    users: all.map((userId) => ({ userId, name: 'A user' })),
  };
  for (const organization of [read, busy, crowd]) {
    const { documents, users } = organization === crowd ? crowdOf : {};
    await add('/v2/organizations/folders/add', { ...organization, createOrganization: true });
    await add('/v2/organizations/documents/add', { ...organization, ...(documents && { documents }) });
    await add('/v2/users/add', { ...organization, ...(users && { users }) });
  }
  await add('/v2/auth/permissions/add', {
    user: { userId: 'ada' },
    permissions: { resources: [{ type: 'folder', id: 'contracts', ...crowd }] },
  });
  for (const organizationId of ['moved-0', 'moved-1', 'opened-0', 'opened-1']) {
    await add('/v2/organizations/folders/add', { organizationId, createOrganization: true });
    await add('/v2/organizations/documents/add', { organizationId, folderId: 'drafts' });
  }
  await add('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true, immutable: false } });
  for (const organization of [read, busy]) {
    const scope = { ...organization, documentId: 'loose' };
    await add('/v2/organizations/documents/add', {
      ...organization,
      folderId: undefined,
      documents: [{ documentId: 'loose' }],
    });
    await add('/v2/activities/add', {
      ...scope,
      activities: all.map((id, index) => ({ ...anActivity, id, ...(index < 10 && { targetEntityId: 'signature' }) })),
    });
    await add('/v2/recordings/add', scope);
    const nda = { ...organization, documentId: 'nda' };
    const fourComments = times(4, () => ({ commentText: 'A comment', from: ada }));
    await add('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: ['talk', 'reacted'].map((annotationId) => ({ annotationId, commentData: fourComments })),
    });
    await add('/v2/crdt/add', { ...nda, ...aText });
    await add('/v2/reactions/add', {
      ...nda,
      reactions: [{ annotationId: 'shared', icon: '👍', from: ada, commentAnnotationId: 'reacted', commentId: 1 }],
    });
  }
  for (const organization of [read, busy]) {
    const groupIds = ['lawyers', ...(organization === busy ? ['fifty-0', 'fifty-1'] : [])];
    await add('/v2/organizations/usergroups/add', {
      ...organization,
      organizationUserGroups: groupIds.map((groupId) => ({ groupId })),
    });
    for (const organizationUserGroupId of groupIds) {
      const userIds = organizationUserGroupId === 'lawyers' ? ['ada', ...all.slice(0, 2)] : all.slice(0, 50);
      await add('/v2/organizations/usergroups/users/add', { ...organization, organizationUserGroupId, userIds });
    }
  }
  const twoComments = times(2, () => ({ commentText: 'A comment', from: ada }));
  await add('/v2/commentannotations/add', {
    ...crowd,
    documentId: 'one-of-many-0',
    commentAnnotations: all.map((annotationId) => ({ annotationId, commentData: twoComments })),
  });
  await add('/v2/notifications/add', { ...inAcme, ...notification, notificationId: 'read' });
  await add('/v2/memory/judgments/add', {
    ...inAcme,
    judgments: times(10, (n) => ({
      ...aJudgment,
      recordId: `read-${n}`,
      annotationId: 'talk',
    })),
  });
  for (const n of [0, 1])
    await add('/v2/notifications/add', {
      ...inBusy,
      ...notification,
      notificationId: `located-${n}`,
      location: { id: `location-${n}` },
    });
  await add('/v2/users/add', { ...read, documentId: 'nda' });
  await add('/v2/auth/permissions/add');
  await add('/v2/workspace/domains/add');
  await add('/v2/workspace/advancedwebhookconfig/update');
  const { id: endpointId } = await add('/v2/workspace/advancedwebhook/endpoints/create', { uid: undefined });
  // No worker runs here. A resend writes a delivery at once, which the endpoint's list then contains.
  await add('/v2/events/publish', { ...busy, documentId: undefined, event: 'huddle.create', eventId: 'listed' });
  await add('/v2/workspace/advancedwebhook/messages/resend', { messageId: 'listed', endpointId });
  const { version: editorVersion } = await add('/v2/crdt/updates/get', {
    ...inAcme,
    editorId: aText.editorId,
    version: undefined,
  });
  await add('/v2/users/add', { ...busy, users: ['user-0', 'user-1'].map((userId) => ({ userId })) });
  const agentIds: string[] = [];
  for (const name of ['First', 'Second']) agentIds.push((await add('/v2/agents/create', { name })).agentId);
  const { group } = await add('/v2/agents/groups/create', { agentIds: ['spell-check', agentIds[0]] });
  const restored = { ...inBusy, editorId: 'restored' };
  await add('/v2/crdt/add', { ...restored, type: 'text', data: 'Text' });
  const versionIds: string[] = [];
  for (const data of ['Text 0', 'Text 1']) {
    await add('/v2/crdt/update', { ...restored, type: 'text', data });
    versionIds.push((await add('/v2/crdt/versions/add', { ...restored, name: data })).versionId);
  }
  await add('/v2/workspace/emailconfig/update', { useEmailService: true });
  await add('/v2/commentannotations/add', {
    ...loose,
    commentAnnotations: [{ annotationId: 'talk', commentData: twoComments }],
  });
  await add('/v2/notifications/add', { ...loose, ...notification, notifyUsers: [{ userId: 'bob' }] });
  const { token } = await add('/v2/auth/generate_token', {
    userId: 'bob',
    permissions: { resources: [{ type: 'document', id: 'loose', ...busy }] },
  });
  const user = { authorization: `Bearer ${token}` };
  return { ...workspace, endpointId, editorVersion, agentIds, agentGroupId: group.id, versionIds, user };
}

/** The answer to an example, the result that the reference shows for it, and the cost of the warm request. */
export interface MeasuredExample {
  readonly answer: Response;
  readonly documented: unknown;
  readonly cost: Cost;
}

/**
 * Sends all examples in turn. Sends each twice, the second time in the same state, and measures the second answer.
 * Returns them by path.
 */
export async function measureExamples(engine: Engine, recorder: Recorder): Promise<Map<string, MeasuredExample>> {
  const run = new ExampleRun('ada@example.com');
  const measured = new Map<string, MeasuredExample>();
  for (const path of examplePaths) {
    const data = await run.prepare(path);
    const before = await itemsNow(engine);
    await run.customer.call(path, data);
    await undoChanges(engine, before);
    const { result: answer, calls } = await recorder.record(() => run.customer.call(path, data));
    const documented = await run.record(path, answer.body);
    measured.set(path, { answer, documented, cost: costOf(endpointAt(path), calls) });
  }
  return measured;
}

const itemsNow = async (engine: Engine) =>
  new Map((await everyItem(engine)).map((item) => [`${item.PK} ${item.SK}`, item]));

async function undoChanges(engine: Engine, before: Awaited<ReturnType<typeof itemsNow>>): Promise<void> {
  const now = await itemsNow(engine);
  for (const [key, item] of now) if (!before.has(key)) await deleteItem(engine, item);
  for (const [key, item] of before) if (!isDeepStrictEqual(now.get(key), item)) await putItem(engine, item);
}

/** Sends the request of a scenario twice. Returns the cost of the second request. */
export async function measureScenario(recorder: Recorder, subject: Subject, { path, data }: Scenario): Promise<Cost> {
  const endpoint = endpointAt(path);
  await send(endpoint, subject, data(0, subject));
  const { calls } = await recorder.record(() => send(endpoint, subject, data(1, subject)));
  return costOf(endpoint, calls);
}

/** Returns the cost of a request without the reads of its credentials. */
const costOf = ({ freshCredentials }: Endpoint, calls: readonly AwsCall[]) =>
  costOfCalls(freshCredentials ? calls.slice(1) : calls);

export function numbersOf({ calls, roundTrips, readUnits, writeUnits }: RequestCost): Numbers {
  return [calls, roundTrips, readUnits, writeUnits];
}

/** Sends `data` with the credentials that the endpoint requires. Throws if the request or one of its items fails. */
async function send({ path, auth }: Endpoint, workspace: TestWorkspace | Subject, data: unknown): Promise<any> {
  const headers = auth === 'user' && 'user' in workspace ? workspace.user : headersOf(workspace)[auth];
  const { status, body } = await post(handlerOf(path), headers, data);
  if (status !== 200 || JSON.stringify(body).includes('"success":false'))
    throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}
