import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { type AwsCall, type Consumption, type Recorder, total } from '../support/capacity.ts';
import { handlerOf } from '../support/customer.ts';
import { type Headers, post } from '../support/requests.ts';
import { newWorkspace, type TestWorkspace } from '../support/workspaces.ts';

/** A workspace with data, a second API key and webhook endpoints. */
export interface Subject extends TestWorkspace {
  readonly secondApiKey: string;
  readonly endpointIds: readonly string[];
  readonly erasureJobId: string;
  /** The ids of review agents and agent groups, by the scenario that uses them. */
  readonly agents: Readonly<Record<(typeof agentNames)[number], string>>;
  readonly agentGroups: Readonly<Record<(typeof agentGroupNames)[number], string>>;
  /** The version of an editor that no scenario changes. */
  readonly editorVersion: number;
}

/** One request of an endpoint, as customers send it. */
export interface Scenario {
  readonly path: Endpoint['path'];
  readonly what: string;
  /**
   * Returns the `data` of the request. The request is sent twice to be warm: `n` makes the names of its new resources
   * unique.
   */
  data(n: number, subject: Subject): unknown;
}

/** Returns a name such as `/v2/organizations/get by id`. */
export function nameOf({ path, what }: Scenario): string {
  return `${path} ${what}`;
}

/** The cost of a warm request, without reading the credentials. */
export interface Cost extends Consumption {
  /** The number of AWS calls. */
  readonly calls: number;
  /** The number of sequential round trips. */
  readonly roundTrips: number;
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
/** Two updates of Yjs clients. Each inserts a letter into the empty text under the key `content`. */
const typed = ['AQEBAAQBB2NvbnRlbnQBYQA=', 'AQECAAQBB2NvbnRlbnQBYgA='];

const agentNames = ['read', 'changed', 'restored', 'gone-0', 'gone-1'] as const;
const agentGroupNames = ['read', 'changed', 'gone-0', 'gone-1'] as const;
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

const readConfigs = [
  'activity',
  'advancedwebhook',
  'apikey',
  'email',
  'notification',
  'permissionprovider',
  'webhook',
] as const;

/** At least one scenario of every endpoint. Reads come before the writes that add to their results. */
export const scenarios: readonly Scenario[] = [
  {
    path: '/v2/organizations/add',
    what: 'one',
    data: (n) => ({ organizations: [{ organizationId: `one-${n}`, organizationName: 'One' }] }),
  },
  {
    path: '/v2/organizations/add',
    what: 'two',
    data: (n) => ({ organizations: [{ organizationId: `two-${n}-a` }, { organizationId: `two-${n}-b` }] }),
  },
  {
    path: '/v2/organizations/update',
    what: 'one',
    data: (n) => ({ organizations: [{ organizationId: 'changed', organizationName: `Name ${n}`, plan: 'pro' }] }),
  },
  {
    path: '/v2/organizations/access/disablestate/update',
    what: 'one',
    data: (n) => ({ organizationIds: ['changed'], disabled: n === 0 }),
  },
  { path: '/v2/organizations/delete', what: 'one', data: (n) => ({ organizationIds: [`gone-${n}`] }) },
  { path: '/v2/organizations/get', what: 'by id', data: () => ({ organizationIds: [read.organizationId] }) },
  { path: '/v2/organizations/get', what: 'a page', data: () => ({ pageSize: 100 }) },
  {
    path: '/v2/organizations/folders/add',
    what: 'one at the top',
    data: (n) => ({ ...busy, folders: [{ folderId: `top-${n}`, folderName: 'Top' }] }),
  },
  {
    path: '/v2/organizations/folders/add',
    what: 'one in a folder',
    data: (n) => ({ ...busy, folders: [{ folderId: `sub-${n}`, parentFolderId: 'contracts' }] }),
  },
  {
    path: '/v2/organizations/documents/add',
    what: 'one',
    data: (n) => ({ ...busy, documents: [{ documentId: `one-${n}`, documentName: 'One' }] }),
  },
  {
    path: '/v2/organizations/documents/add',
    what: 'one in a folder',
    data: (n) => ({ ...busy, folderId: 'contracts', documents: [{ documentId: `filed-${n}` }] }),
  },
  {
    path: '/v2/organizations/documents/access/update',
    what: 'one',
    data: (n) => ({ ...busy, documentIds: ['nda'], accessType: n === 0 ? 'restricted' : 'public' }),
  },
  {
    path: '/v2/organizations/documents/update',
    what: 'one',
    data: (n) => ({
      ...busy,
      documents: [{ documentId: 'loose', documentName: `Loose ${n}`, metadata: { version: n } }],
    }),
  },
  {
    path: '/v2/organizations/documents/access/disablestate/update',
    what: 'one',
    data: (n) => ({ ...busy, documentIds: ['one-0'], disabled: n === 0 }),
  },
  {
    path: '/v2/organizations/documents/move',
    what: 'one to the top',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`], folderId: 'root' }),
  },
  {
    path: '/v2/organizations/documents/move',
    what: 'one into a folder',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`], folderId: 'contracts' }),
  },
  { path: '/v2/organizations/documents/delete', what: 'one', data: (n) => ({ ...busy, documentIds: [`one-${n}`] }) },
  {
    path: '/v2/organizations/documents/delete',
    what: 'one of a folder',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`] }),
  },
  { path: '/v2/organizations/documents/count/get', what: 'of an organization', data: () => crowd },
  {
    path: '/v2/organizations/documents/count/get',
    what: 'of a folder',
    data: () => ({ ...crowd, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/folders/get', what: 'at the top', data: () => read },
  {
    path: '/v2/organizations/folders/get',
    what: 'one with those directly in it',
    data: () => ({ ...read, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/folders/get', what: 'two levels', data: () => ({ ...read, maxDepth: 2 }) },
  {
    path: '/v2/organizations/folders/update',
    what: 'a name',
    data: (n) => ({ ...busy, folders: [{ folderId: `top-${n}`, folderName: 'Renamed' }] }),
  },
  {
    path: '/v2/organizations/folders/update',
    what: 'one moved to the top',
    data: (n) => ({ organizationId: `moved-${n}`, folders: [{ folderId: 'drafts', parentFolderId: 'root' }] }),
  },
  {
    path: '/v2/organizations/folders/access/update',
    what: 'one',
    data: (n) => ({ organizationId: `opened-${n}`, folderIds: ['contracts'], accessType: 'public' }),
  },
  {
    path: '/v2/organizations/documents/get',
    what: 'by id, while folders are moved',
    data: () => ({ organizationId: 'moved-0', documentIds: ['nda'] }),
  },
  {
    path: '/v2/organizations/folders/delete',
    what: 'one',
    data: (n) => ({ organizationId: `moved-${n}`, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/documents/get', what: 'by id', data: () => ({ ...read, documentIds: ['loose'] }) },
  {
    path: '/v2/organizations/documents/get',
    what: 'by id, in a folder',
    data: () => ({ ...read, documentIds: ['nda'] }),
  },
  { path: '/v2/organizations/documents/get', what: 'a page', data: () => ({ ...read, pageSize: 100 }) },
  {
    path: '/v2/organizations/documents/get',
    what: 'a page of a folder',
    data: () => ({ ...read, folderId: 'contracts', pageSize: 100 }),
  },
  { path: '/v2/organizations/documents/get', what: 'a hundred', data: () => ({ ...crowd, pageSize: CROWD }) },
  {
    path: '/v2/organizations/documents/get',
    what: 'a hundred of a folder',
    data: () => ({ ...crowd, folderId: 'contracts', pageSize: CROWD }),
  },
  { path: '/v2/activities/get', what: 'by id', data: () => ({ ...read, activityIds: ['one-of-many-7'] }) },
  {
    path: '/v2/activities/get',
    what: 'a page of a document',
    data: () => ({ ...read, documentId: 'loose', pageSize: CROWD }),
  },
  { path: '/v2/activities/get', what: 'a page of an organization', data: () => ({ ...read, pageSize: CROWD }) },
  {
    path: '/v2/activities/get',
    what: 'a page of a target entity',
    data: () => ({ ...read, targetEntityId: 'signature', pageSize: 10 }),
  },
  { path: '/v2/activities/add', what: 'one', data: () => ({ ...loose, activities: [anActivity] }) },
  {
    path: '/v2/activities/add',
    what: 'one with an id',
    data: (n) => ({ ...loose, activities: [{ ...anActivity, id: `one-${n}` }] }),
  },
  {
    path: '/v2/activities/add',
    what: 'one of a target entity',
    data: () => ({ ...loose, activities: [{ ...anActivity, targetEntityId: 'signature' }] }),
  },
  {
    path: '/v2/activities/add',
    what: 'a hundred',
    data: () => ({ ...loose, activities: Array.from({ length: CROWD }, () => anActivity) }),
  },
  {
    path: '/v2/activities/update',
    what: 'one',
    data: (n) => ({ ...busy, activities: [{ id: 'one-of-many-7', displayMessageTemplate: `Changed ${n}` }] }),
  },
  { path: '/v2/activities/delete', what: 'one by id', data: (n) => ({ ...busy, activityIds: [`one-of-many-${n}`] }) },
  { path: '/v2/commentannotations/get', what: 'by id', data: () => ({ ...inAcme, annotationIds: ['talk'] }) },
  { path: '/v2/commentannotations/get', what: 'a page', data: () => ({ ...inAcme, pageSize: 100 }) },
  {
    path: '/v2/commentannotations/get',
    what: 'a hundred',
    data: () => ({ ...crowd, documentId: 'one-of-many-0', pageSize: CROWD }),
  },
  {
    path: '/v2/commentannotations/count/get',
    what: 'of a document',
    data: () => ({ ...crowd, documentIds: ['one-of-many-0'], userId: 'ada' }),
  },
  {
    path: '/v2/commentannotations/add',
    what: 'one',
    data: (n) => ({
      ...inBusy,
      commentAnnotations: [{ annotationId: `one-${n}`, commentData: [{ commentText: 'A comment', from: ada }] }],
    }),
  },
  {
    path: '/v2/commentannotations/add',
    what: 'one that notifies users',
    data: (n) => ({
      ...inBusy,
      commentAnnotations: [
        {
          annotationId: `sent-${n}`,
          commentData: [{ commentText: 'A comment', from: ada, triggerNotification: true }],
        },
      ],
    }),
  },
  {
    path: '/v2/commentannotations/add',
    what: 'one of an agent',
    data: (n, { agents }) => ({
      ...inBusy,
      commentAnnotations: [{ annotationId: `found-${n}`, commentData: [findingOf(agents.read, `run-${n}`)] }],
    }),
  },
  {
    path: '/v2/commentannotations/update',
    what: 'one',
    data: (n) => ({ ...inBusy, annotationIds: ['talk'], updatedData: { status: n === 0 ? 'RESOLVED' : 'OPEN' } }),
  },
  {
    path: '/v2/commentannotations/update',
    what: 'one with a reason',
    data: (n) => ({
      ...inBusy,
      annotationIds: [`sent-${n}`],
      updatedData: { suggestion: { status: n === 0 ? 'accepted' : 'rejected' } },
      reason: 'It is fine.',
      actionUser: ada,
    }),
  },
  { path: '/v2/commentannotations/delete', what: 'one', data: (n) => ({ ...inBusy, annotationIds: [`one-${n}`] }) },
  { path: '/v2/commentannotations/comments/get', what: 'by id', data: () => ({ ...talkRead, commentIds: [1] }) },
  { path: '/v2/commentannotations/comments/get', what: 'a page', data: () => talkRead },
  {
    path: '/v2/commentannotations/comments/get',
    what: 'a page with a reaction',
    data: () => ({ ...talkRead, annotationId: 'reacted' }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    what: 'one',
    data: () => ({ ...talk, commentData: [{ commentText: 'A reply', from: ada }] }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    what: 'one that notifies users',
    data: () => ({ ...talk, commentData: [{ commentText: 'A reply', from: ada, triggerNotification: true }] }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    what: 'one of an agent',
    data: (n, { agents }) => ({ ...talk, commentData: [findingOf(agents.read, `reply-${n}`)] }),
  },
  {
    path: '/v2/commentannotations/comments/update',
    what: 'one',
    data: (n) => ({ ...talk, commentIds: [1], updatedData: { commentText: `Text ${n}` } }),
  },
  { path: '/v2/commentannotations/comments/delete', what: 'one', data: (n) => ({ ...talk, commentIds: [2 + n] }) },
  { path: '/v2/crdt/get', what: 'one', data: () => ({ ...inAcme, editorId: aText.editorId }) },
  { path: '/v2/crdt/get', what: 'all of a document', data: () => inAcme },
  { path: '/v2/crdt/updates/get', what: 'everything', data: () => ({ ...inAcme, editorId: aText.editorId }) },
  {
    path: '/v2/crdt/updates/get',
    what: 'nothing new',
    data: (_n, { editorVersion }) => ({ ...inAcme, editorId: aText.editorId, version: editorVersion }),
  },
  { path: '/v2/crdt/add', what: 'one', data: (n) => ({ ...inBusy, ...aText, editorId: `one-${n}` }) },
  { path: '/v2/crdt/update', what: 'one', data: (n) => ({ ...inBusy, ...aText, data: `Text ${n}` }) },
  { path: '/v2/crdt/update', what: 'one unchanged', data: () => ({ ...inBusy, ...aText, data: 'Text' }) },
  {
    path: '/v2/crdt/updates/push',
    what: 'one',
    data: (n) => ({ ...inBusy, editorId: aText.editorId, update: typed[n] }),
  },
  { path: '/v2/crdt/delete', what: 'one', data: (n) => ({ ...inBusy, editorIds: [`one-${n}`] }) },
  { path: '/v2/reactions/add', what: 'one', data: (n) => reacting({ annotationId: `loose-${n}` }) },
  {
    path: '/v2/reactions/add',
    what: 'one on a comment',
    data: (n) => reacting({ annotationId: `on-${n}`, commentAnnotationId: 'talk', commentId: 1 }),
  },
  {
    path: '/v2/reactions/add',
    what: 'one more user',
    data: (n) => reacting({ annotationId: 'shared', from: { userId: `user-${n}` } }),
  },
  {
    path: '/v2/reactions/add',
    what: 'one that exists, unchanged',
    data: () => reacting({ annotationId: 'loose-0' }),
  },
  { path: '/v2/reactions/delete', what: 'one', data: (n) => ({ ...inBusy, annotationIds: [`loose-${n}`] }) },
  { path: '/v2/reactions/delete', what: 'one on a comment', data: (n) => ({ ...inBusy, annotationIds: [`on-${n}`] }) },
  {
    path: '/v2/memory/judgments/add',
    what: 'one',
    data: (n) => ({ ...inBusy, judgments: [{ ...aJudgment, recordId: `one-${n}` }] }),
  },
  {
    path: '/v2/memory/judgments/add',
    what: 'one with content',
    data: (n) => ({
      ...inBusy,
      judgments: [{ ...aJudgment, recordId: `content-${n}`, content: 'Only 49.90 a month' }],
    }),
  },
  {
    path: '/v2/memory/judgments/add',
    what: 'one of a thread',
    data: (n) => ({ ...inBusy, judgments: [{ ...aJudgment, recordId: `thread-${n}`, annotationId: 'talk' }] }),
  },
  { path: '/v2/memory/search', what: 'a document', data: () => ({ ...inAcme, query: 'a price without tax' }) },
  { path: '/v2/memory/search', what: 'an organization', data: () => ({ ...read, query: 'a price without tax' }) },
  {
    path: '/v2/memory/search',
    what: 'everything',
    data: () => ({ query: 'a price without tax', filters: { reviewerId: 'grace' } }),
  },
  { path: '/v2/memory/search', what: 'a thread', data: () => ({ ...read, filters: { annotationId: 'talk' } }) },
  { path: '/v2/memory/search', what: 'the latest', data: () => ({ ...inAcme, recencyDays: 30 }) },
  { path: '/v2/memory/judgments/query', what: 'the latest', data: () => inAcme },
  { path: '/v2/memory/judgments/query', what: 'a thread', data: () => ({ ...read, annotationId: 'talk' }) },
  {
    path: '/v2/notifications/add',
    what: 'one',
    data: (n) => ({ ...inBusy, ...notification, notificationId: `one-${n}` }),
  },
  {
    path: '/v2/notifications/add',
    what: 'one that exists',
    data: () => ({ ...inAcme, ...notification, notificationId: 'read' }),
  },
  {
    path: '/v2/notifications/add',
    what: 'one to verified users',
    data: (n) => ({ ...inBusy, ...notification, notificationId: `verified-${n}`, verifyUserPermissions: true }),
  },
  { path: '/v2/notifications/get', what: 'by id', data: () => ({ ...read, notificationIds: ['read'] }) },
  { path: '/v2/notifications/get', what: 'a page of a document', data: () => ({ ...inAcme, pageSize: 100 }) },
  { path: '/v2/notifications/get', what: 'a page of a user', data: () => ({ ...read, userId: 'ada', pageSize: 100 }) },
  { path: '/v1/notifications/get', what: 'of a document', data: () => inAcme },
  {
    path: '/v2/notifications/update',
    what: 'one',
    data: (n) => ({ ...busy, notifications: [{ id: 'changed', readByUserIds: [`reader-${n}`] }] }),
  },
  {
    path: '/v2/notifications/config/set',
    what: 'of one user',
    data: (n) => ({ ...busy, userIds: ['ada'], config: { inbox: n === 0 ? 'MINE' : 'ALL' } }),
  },
  {
    path: '/v2/notifications/config/get',
    what: 'of one document',
    data: () => ({ ...read, userId: 'ada', documentIds: ['nda'] }),
  },
  { path: '/v2/users/data/get', what: 'of one user', data: () => ({ ...read, userId: 'ada' }) },
  {
    path: '/v2/users/data/delete',
    what: 'of a user in one organization',
    data: (n) => ({ userIds: [`erased-${n}`], organizationIds: [busy.organizationId] }),
  },
  { path: '/v2/users/data/delete/status', what: 'of one', data: (_n, { erasureJobId }) => ({ jobId: erasureJobId }) },
  { path: '/v2/notifications/delete', what: 'one', data: (n) => ({ ...busy, notificationIds: [`one-${n}`] }) },
  {
    path: '/v1/organizations/documents/locations/update',
    what: 'of one notification',
    data: (n, { apiKey, authToken }) => ({
      apiKey,
      authToken,
      documentId: 'nda',
      migrate: { oldLocation: { id: `location-${n}` }, newLocation: { locationName: `Chapter ${n}` } },
      merge: true,
    }),
  },
  {
    path: '/v1/organizations/documents/locations/data/delete',
    what: 'with one notification',
    data: (n, { apiKey, authToken }) => ({ apiKey, authToken, documentId: 'nda', location: { id: `location-${n}` } }),
  },
  {
    path: '/v2/events/publish',
    what: 'one',
    data: (n) => ({ ...busy, event: 'huddle.create', eventId: `huddle-${n}`, data: { note: 'A huddle' } }),
  },
  {
    path: '/v2/events/publish',
    what: 'one of a document',
    data: () => ({ ...inBusy, event: 'comment.add', data: { note: 'A comment' } }),
  },
  {
    path: '/v2/events/publish',
    what: 'one that exists',
    data: () => ({ ...busy, event: 'huddle.create', eventId: 'huddle-0' }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/test',
    what: 'one',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId }),
  },
  { path: '/v2/workspace/advancedwebhook/messages/get', what: 'a page', data: () => ({ limit: 1 }) },
  {
    path: '/v2/workspace/advancedwebhook/messages/get',
    what: 'a page of an endpoint',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId, limit: 1 }),
  },
  { path: '/v2/workspace/advancedwebhook/attempts/get', what: 'of a message', data: () => ({ messageId: 'huddle-0' }) },
  {
    path: '/v2/workspace/advancedwebhook/messages/resend',
    what: 'one',
    data: (_n, { endpointIds: [endpointId] }) => ({ messageId: 'huddle-0', endpointId }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/recover',
    what: 'nothing',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId, since: new Date(Date.now()).toISOString() }),
  },
  {
    path: '/v2/recordings/get',
    what: 'by id',
    data: () => ({ ...read, documentId: 'loose', recordingIds: ['walkthrough'] }),
  },
  { path: '/v2/recordings/get', what: 'a page of a document', data: () => ({ ...read, documentId: 'loose' }) },
  { path: '/v2/recordings/get', what: 'a page of an organization', data: () => read },
  {
    path: '/v2/recordings/add',
    what: 'one',
    data: () => ({ ...loose, recordings: [{ recordingType: 'audio', from: { userId: 'ada' } }] }),
  },
  {
    path: '/v2/users/add',
    what: 'one to an organization',
    data: (n) => ({ ...busy, users: [{ userId: `user-${n}`, name: 'A user', email: 'user@example.com' }] }),
  },
  {
    path: '/v2/users/add',
    what: 'one to a document',
    data: (n) => ({ ...busy, documentId: 'nda', users: [{ userId: `reader-${n}` }] }),
  },
  {
    path: '/v2/users/add',
    what: 'one who exists, unchanged',
    data: () => ({ ...busy, users: [{ userId: 'ada', name: 'Ada Lovelace' }] }),
  },
  { path: '/v2/users/get', what: 'by id', data: () => ({ ...read, userIds: ['ada'] }) },
  { path: '/v2/users/get', what: 'a page', data: () => ({ ...read, pageSize: 100 }) },
  { path: '/v2/users/get', what: 'a page of a document', data: () => ({ ...read, documentId: 'nda', pageSize: 100 }) },
  {
    path: '/v2/users/get',
    what: 'a page of a group',
    data: () => ({ ...read, organizationUserGroupIds: ['lawyers'], pageSize: 100 }),
  },
  {
    path: '/v2/users/get',
    what: 'a page of all documents',
    data: () => ({ ...read, allDocuments: true, pageSize: 100 }),
  },
  { path: '/v2/users/count/get', what: 'of an organization', data: () => crowd },
  { path: '/v2/users/count/get', what: 'of one document', data: () => ({ ...read, documentIds: ['loose'] }) },
  { path: '/v2/users/update', what: 'one', data: (n) => ({ ...busy, users: [{ userId: 'ada', name: `Ada ${n}` }] }) },
  {
    path: '/v2/users/update',
    what: 'a role',
    data: (n) => ({ ...busy, users: [{ userId: 'ada', accessRole: n % 2 ? 'viewer' : 'editor' }] }),
  },
  { path: '/v2/users/delete', what: 'one from an organization', data: (n) => ({ ...busy, userIds: [`user-${n}`] }) },
  {
    path: '/v2/users/delete',
    what: 'one from a document',
    data: (n) => ({ ...busy, documentId: 'nda', userIds: [`reader-${n}`] }),
  },
  { path: '/v2/users/get', what: 'a hundred', data: () => ({ ...crowd, pageSize: CROWD }) },
  {
    path: '/v2/organizations/usergroups/add',
    what: 'one',
    data: (n) => ({ ...busy, organizationUserGroups: [{ groupId: `group-${n}`, groupName: 'A group' }] }),
  },
  {
    path: '/v2/organizations/usergroups/get',
    what: 'by id',
    data: () => ({ ...read, organizationUserGroupIds: ['lawyers'] }),
  },
  { path: '/v2/organizations/usergroups/get', what: 'a page', data: () => read },
  {
    path: '/v2/organizations/usergroups/get',
    what: 'a page with the users',
    data: () => ({ ...read, includeUsers: true }),
  },
  {
    path: '/v2/organizations/usergroups/users/add',
    what: 'one',
    data: (n) => ({ ...lawyers, userIds: [`one-of-many-${90 + n}`] }),
  },
  {
    path: '/v2/organizations/usergroups/users/add',
    what: 'one who exists',
    data: () => ({ ...lawyers, userIds: ['ada'] }),
  },
  {
    path: '/v1/organizations/usergroups/users/delete',
    what: 'one',
    data: (n) => ({ ...lawyers, userIds: [`one-of-many-${n}`] }),
  },
  {
    path: '/v1/organizations/usergroups/users/delete',
    what: 'all of fifty',
    data: (n) => ({ ...busy, organizationUserGroupId: `fifty-${n}`, deleteAll: true }),
  },
  {
    path: '/v2/auth/permissions/add',
    what: 'one document',
    data: () => ({ user: { userId: 'ada' }, permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] } }),
  },
  {
    path: '/v2/auth/permissions/add',
    what: 'one document, to a new user',
    data: (n) => ({
      user: { userId: `new-${n}` },
      permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
    }),
  },
  { path: '/v2/auth/permissions/get', what: 'on the organization', data: () => ({ ...read, userIds: ['ada'] }) },
  {
    path: '/v2/auth/permissions/get',
    what: 'on a folder',
    data: () => ({ ...read, userIds: ['ada'], folderIds: ['contracts'] }),
  },
  {
    path: '/v2/auth/permissions/get',
    what: 'on a document',
    data: () => ({ ...read, userIds: ['ada'], documentIds: ['loose'] }),
  },
  {
    path: '/v2/auth/permissions/get',
    what: 'on a document in a folder',
    data: () => ({ ...read, userIds: ['ada'], documentIds: ['nda'] }),
  },
  {
    path: '/v2/auth/permissions/remove',
    what: 'one document',
    data: () => ({ userId: 'ada', permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] } }),
  },
  {
    path: '/v2/auth/generate_signature',
    what: 'of one permission',
    data: () => ({ permissions: [{ userId: 'ada', resourceId: 'nda', type: 'document', hasAccess: true }] }),
  },
  {
    path: '/v2/auth/generate_token',
    what: 'for a known user and a document',
    data: () => ({
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
    }),
  },
  {
    path: '/v2/auth/token/get',
    what: 'for a known member',
    data: () => ({ userId: 'ada', userProperties: busy }),
  },
  {
    path: '/v1/auth/token/get',
    what: 'for a known member',
    data: (_n, { apiKey, authToken }) => ({ apiKey, authToken, userId: 'ada', userProperties: busy }),
  },
  { path: '/v2/agents/get', what: 'a custom one', data: (_n, { agents }) => ({ agentId: agents.read }) },
  { path: '/v2/agents/get', what: 'a built-in one', data: () => ({ agentId: 'spell-check' }) },
  { path: '/v2/agents/get', what: 'all', data: () => ({}) },
  { path: '/v2/agents/get', what: 'of a group', data: (_n, { agentGroups }) => ({ groupId: agentGroups.read }) },
  {
    path: '/v2/agents/extract',
    what: 'a table',
    data: () => ({
      fileBase64: Buffer.from('name,instructions\nTone,Flag what shouts.').toString('base64'),
      mimeType: 'text/csv',
    }),
  },
  { path: '/v2/agents/create', what: 'one', data: (n) => ({ name: `Agent ${n}`, instructions: 'Look for mistakes.' }) },
  {
    path: '/v2/agents/create',
    what: 'one with a secret',
    data: (n) => ({ name: `Agent ${n}`, execution: { executionStrategy: 'mcp-tools', mcpServers: [anMcpServer] } }),
  },
  { path: '/v2/agents/update', what: 'one', data: (n, { agents }) => ({ agentId: agents.changed, enabled: n === 0 }) },
  { path: '/v2/agents/update', what: 'a built-in one', data: (n) => ({ agentId: 'lorem-ipsum', enabled: n === 0 }) },
  {
    path: '/v2/agents/version/update',
    what: 'one',
    data: (n, { agents }) => ({ agentId: agents.changed, instructions: `Look ${n} times.` }),
  },
  { path: '/v2/agents/versions/list', what: 'of one', data: (_n, { agents }) => ({ agentId: agents.read }) },
  { path: '/v2/agents/versions/restore', what: 'one', data: (_n, { agents }) => ({ agentId: agents.restored }) },
  {
    path: '/v2/agents/delete',
    what: 'one',
    data: (n, { agents }) => ({ agentId: agents[n === 0 ? 'gone-0' : 'gone-1'] }),
  },
  {
    path: '/v2/agents/groups/create',
    what: 'one',
    data: (n, { agents }) => ({ name: `Group ${n}`, agentIds: [agents.read] }),
  },
  { path: '/v2/agents/groups/get', what: 'one', data: (_n, { agentGroups }) => ({ groupId: agentGroups.read }) },
  { path: '/v2/agents/groups/list', what: 'all', data: () => ({}) },
  {
    path: '/v2/agents/groups/update',
    what: 'one',
    data: (n, { agentGroups }) => ({ groupId: agentGroups.changed, name: `Name ${n}` }),
  },
  {
    path: '/v2/agents/groups/add-agents',
    what: 'one',
    data: (n, { agents, agentGroups }) => ({
      groupId: agentGroups.changed,
      agentIds: [n === 0 ? agents.read : agents.changed],
    }),
  },
  {
    path: '/v2/agents/groups/remove-agents',
    what: 'one',
    data: (n, { agents, agentGroups }) => ({
      groupId: agentGroups.changed,
      agentIds: [n === 0 ? agents.read : agents.changed],
    }),
  },
  {
    path: '/v2/agents/groups/delete',
    what: 'one',
    data: (n, { agentGroups }) => ({ groupId: agentGroups[n === 0 ? 'gone-0' : 'gone-1'] }),
  },
  { path: '/v2/workspace/email/status', what: 'of one owner', data: (_n, { ownerEmail }) => ({ ownerEmail }) },
  {
    path: '/v2/workspace/email/send-login-link',
    what: 'to one owner',
    data: (_n, { ownerEmail }) => ({ email: ownerEmail, continueUrl: 'https://app.example.com/' }),
  },
  { path: '/v2/workspace/create', what: 'one', data: (n) => ({ ownerEmail: `bench-${n}@example.com` }) },
  { path: '/v2/workspace/get', what: 'its own', data: () => ({}) },
  { path: '/v2/workspace/apikey/create', what: 'one', data: (_n, { ownerEmail }) => ({ ownerEmail, type: 'testing' }) },
  {
    path: '/v2/workspace/apikey/update',
    what: 'one',
    data: (n, { secondApiKey }) => ({ apiKey: secondApiKey, apiKeyName: `Second ${n}` }),
  },
  { path: '/v2/workspace/apikeys/get', what: 'by id', data: (_n, { secondApiKey }) => ({ apiKeys: [secondApiKey] }) },
  { path: '/v2/workspace/apikeys/get', what: 'a page', data: () => ({}) },
  {
    path: '/v2/workspace/authtokens/get',
    what: 'of one key',
    data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }),
  },
  {
    path: '/v2/workspace/authtoken/reset',
    what: 'of one key',
    data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }),
  },
  { path: '/v2/workspace/domains/add', what: 'one', data: (n) => ({ domains: [`added-${n}.example.com`] }) },
  { path: '/v2/workspace/domains/delete', what: 'one', data: (n) => ({ domains: [`removed-${n}.example.com`] }) },
  { path: '/v2/workspace/domains/get', what: 'all', data: () => ({}) },
  ...readConfigs.map((name): Scenario => ({ path: `/v2/workspace/${name}config/get`, what: 'it', data: () => ({}) })),
  {
    path: '/v2/workspace/activityconfig/update',
    what: 'it',
    data: (n) => ({ activityServiceConfig: { immutable: n === 0 } }),
  },
  { path: '/v2/workspace/advancedwebhookconfig/update', what: 'it', data: (n) => ({ encodeData: n === 0 }) },
  {
    path: '/v2/workspace/apikeyconfig/update',
    what: 'it',
    data: (n) => ({ defaultDocumentAccessType: n === 0 ? 'restricted' : 'public' }),
  },
  {
    path: '/v2/workspace/emailconfig/update',
    what: 'it',
    data: (n) => ({ emailServiceConfig: { fromCompany: `Company ${n}` } }),
  },
  {
    path: '/v2/workspace/notificationconfig/update',
    what: 'it',
    data: (n) => ({ notificationServiceConfig: { triggers: { huddle: { join: n === 0 } } } }),
  },
  {
    path: '/v2/workspace/permissionproviderconfig/update',
    what: 'it',
    data: (n) => ({ usePermissionProvider: n === 0 }),
  },
  {
    path: '/v2/workspace/webhookconfig/update',
    what: 'it',
    data: (n) => ({ webhookServiceConfig: { rawNotificationUrl: `https://hooks.example.com/${n}` } }),
  },
  { path: '/v2/workspace/advancedwebhook/endpoints/get', what: 'a page', data: () => ({}) },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/create',
    what: 'one',
    data: (n) => ({ url: 'https://hooks.example.com', description: `Endpoint ${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/create',
    what: 'one with a uid',
    data: (n) => ({ url: 'https://hooks.example.com', uid: `endpoint-${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/update',
    what: 'one',
    data: (n, { endpointIds }) => ({ endpointId: endpointIds[2], description: `Changed ${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/get',
    what: 'of one endpoint',
    data: (_n, { endpointIds }) => ({ endpointId: endpointIds[2] }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate',
    what: 'of one endpoint',
    data: (_n, { endpointIds }) => ({ endpointId: endpointIds[2], overlapSeconds: 0 }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/delete',
    what: 'one',
    data: (n, { endpointIds }) => ({ endpointId: endpointIds[n] }),
  },
];

/** Creates the workspace: the data of the examples in each organization, and other data that scenarios read. */
export async function prepare(): Promise<Subject> {
  const workspace = await newWorkspace();
  const add = (path: string, changes: object = {}) =>
    send(endpointAt(path), workspace, { ...(endpointAt(path).example.data as object), ...changes });
  const all = Array.from({ length: CROWD }, (_each, index) => `one-of-many-${index}`);
  for (const [organization, contents] of [
    [read, {}],
    [busy, {}],
    [
      crowd,
      {
        documents: all.map((documentId) => ({ documentId })),
        users: all.map((userId) => ({ userId, name: 'A user' })),
      },
    ],
  ] as const) {
    await add('/v2/organizations/folders/add', { ...organization, createOrganization: true });
    await add('/v2/organizations/documents/add', { ...organization, ...contents });
    await add('/v2/users/add', { ...organization, ...contents });
  }
  await add('/v2/auth/permissions/add', {
    user: { userId: 'ada' },
    permissions: { resources: [{ type: 'folder', id: 'contracts', ...crowd }] },
  });
  for (const organizationId of ['moved-0', 'moved-1', 'opened-0', 'opened-1']) {
    await add('/v2/organizations/folders/add', { organizationId, createOrganization: true });
    await add('/v2/organizations/documents/add', { organizationId, folderId: 'drafts' });
  }
  await add('/v2/organizations/add', {
    organizations: ['changed', 'gone-0', 'gone-1'].map((organizationId) => ({ organizationId })),
  });
  await add('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true, immutable: false } });
  for (const organization of [read, busy]) {
    const scope = { ...organization, documentId: 'loose' };
    await add('/v2/organizations/documents/add', { ...organization, folderId: undefined, documents: [scope] });
    await add('/v2/activities/add', {
      ...scope,
      activities: all.map((id, index) => ({ ...anActivity, id, ...(index < 10 && { targetEntityId: 'signature' }) })),
    });
    await add('/v2/recordings/add', scope);
    const nda = { ...organization, documentId: 'nda' };
    const fourComments = Array.from({ length: 4 }, () => ({ commentText: 'A comment', from: ada }));
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
  const twoComments = Array.from({ length: 2 }, () => ({ commentText: 'A comment', from: ada }));
  await add('/v2/commentannotations/add', {
    ...crowd,
    documentId: 'one-of-many-0',
    commentAnnotations: all.map((annotationId) => ({ annotationId, commentData: twoComments })),
  });
  await add('/v2/notifications/add', { ...inAcme, ...notification, notificationId: 'read' });
  await add('/v2/memory/judgments/add', {
    ...inAcme,
    judgments: Array.from({ length: 10 }, (_each, n) => ({
      ...aJudgment,
      recordId: `read-${n}`,
      annotationId: 'talk',
    })),
  });
  await add('/v2/notifications/add', { ...inBusy, ...notification, notificationId: 'changed' });
  for (const n of [0, 1])
    await add('/v2/notifications/add', {
      ...inBusy,
      ...notification,
      notificationId: `located-${n}`,
      location: { id: `location-${n}` },
    });
  await add('/v2/users/add', { ...read, documentId: 'nda' });
  await add('/v2/auth/permissions/add');
  await add('/v2/workspace/domains/add', {
    domains: ['app.example.com', 'removed-0.example.com', 'removed-1.example.com'],
  });
  await add('/v2/workspace/advancedwebhookconfig/update');
  const endpointIds: string[] = [];
  for (let i = 0; i < 3; i++)
    endpointIds.push((await add('/v2/workspace/advancedwebhook/endpoints/create', { uid: undefined })).id);
  // No worker runs here. A resend writes a delivery, which the listing of the endpoint contains.
  await add('/v2/events/publish', { ...busy, documentId: undefined, event: 'huddle.create', eventId: 'listed' });
  await add('/v2/workspace/advancedwebhook/messages/resend', { messageId: 'listed', endpointId: endpointIds[0] });
  const { apiKey } = await add('/v2/workspace/apikey/create', { ownerEmail: workspace.ownerEmail });
  const { version: editorVersion } = await add('/v2/crdt/updates/get', {
    ...inAcme,
    editorId: aText.editorId,
    version: undefined,
  });
  const erased = { ...busy, users: ['erased-0', 'erased-1'].map((userId) => ({ userId })) };
  await add('/v2/users/add', erased);
  const { jobId: erasureJobId } = await add('/v2/users/data/delete', {
    userIds: ['nobody'],
    organizationIds: [read.organizationId],
  });
  const agents = {} as Record<(typeof agentNames)[number], string>;
  for (const name of agentNames) agents[name] = (await add('/v2/agents/create', { name })).agentId;
  for (let i = 0; i < 2; i++) await add('/v2/agents/version/update', { agentId: agents.restored });
  const agentGroups = {} as Record<(typeof agentGroupNames)[number], string>;
  for (const name of agentGroupNames)
    agentGroups[name] = (
      await add('/v2/agents/groups/create', {
        name,
        agentIds: ['spell-check', ...(name === 'read' ? [agents.read] : [])],
      })
    ).group.id;
  return { ...workspace, secondApiKey: apiKey, endpointIds, editorVersion, erasureJobId, agents, agentGroups };
}

/** Sends the request of a scenario twice. Returns the cost of the second one. */
export async function costOf(recorder: Recorder, subject: Subject, { path, data }: Scenario): Promise<Cost> {
  const endpoint = endpointAt(path);
  await send(endpoint, subject, data(0, subject));
  const { calls } = await recorder.record(() => send(endpoint, subject, data(1, subject)));
  return costOfCalls(endpoint.freshCredentials ? calls.slice(1) : calls);
}

/** Returns the cost of recorded calls. */
export function costOfCalls(calls: readonly AwsCall[]): Cost {
  return { calls: calls.length, roundTrips: new Set(calls.map(({ wave }) => wave)).size, ...total(calls) };
}

/** Sends `data` with the credentials of the endpoint. Throws if the request or one of its items fails. */
async function send({ path, auth }: Endpoint, { headers, keyHeaders }: TestWorkspace, data: unknown): Promise<any> {
  const credentials: Record<Endpoint['auth'], Headers> = { apiKey: keyHeaders, workspace: headers, user: {}, none: {} };
  const { status, body } = await post(await handlerOf(path), credentials[auth], data);
  if (status !== 200 || JSON.stringify(body).includes('"success":false'))
    throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

/** Returns the registered endpoint of a path. */
export function endpointAt(path: string): Endpoint {
  const endpoint = Object.values<Endpoint>(registry).find((each) => each.path === path);
  if (!endpoint) throw new Error(`There is no endpoint ${path}`);
  return endpoint;
}
