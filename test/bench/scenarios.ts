import * as registry from '../../functions/index.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { type AwsCall, type Consumption, type Recorder, total } from '../support/capacity.ts';
import { handlerOf } from '../support/customer.ts';
import { type Headers, post } from '../support/requests.ts';
import { newWorkspace, type TestWorkspace } from '../support/workspaces.ts';

/** A workspace with the data that the scenarios need. */
export interface Subject extends TestWorkspace {
  readonly secondApiKey: string;
  readonly endpointIds: readonly string[];
  readonly erasureJobId: string;
  /** Ids of review agents and agent groups, by the name of the scenario that uses each. */
  readonly agents: Readonly<Record<(typeof agentNames)[number], string>>;
  readonly agentGroups: Readonly<Record<(typeof agentGroupNames)[number], string>>;
  /** The current version of an editor that no scenario changes. */
  readonly editorVersion: number;
}

/** One request of an endpoint, as customers send it. */
export interface Scenario {
  readonly path: Endpoint['path'];
  readonly variant: string;
  /**
   * Returns the `data` of the request. The request is sent twice, and the second answer is measured. `n` is different
   * each time, so that names of new resources are unique.
   */
  data(n: number, subject: Subject): unknown;
}

export function nameOf({ path, variant }: Scenario): string {
  return `${path} ${variant}`;
}

/** The cost of a warm request. Reads of the credentials do not count. */
export interface Cost extends Consumption {
  readonly calls: number;
  /** The number of round trips that cannot run in parallel. */
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
/** Two updates of Yjs clients. Each inserts a letter into an empty text. The text has the key `content`. */
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

/** Every endpoint has at least one scenario. Reads come before the writes that would add to their results. */
export const scenarios: readonly Scenario[] = [
  {
    path: '/v2/organizations/add',
    variant: 'one',
    data: (n) => ({ organizations: [{ organizationId: `one-${n}`, organizationName: 'One' }] }),
  },
  {
    path: '/v2/organizations/add',
    variant: 'two',
    data: (n) => ({ organizations: [{ organizationId: `two-${n}-a` }, { organizationId: `two-${n}-b` }] }),
  },
  {
    path: '/v2/organizations/update',
    variant: 'one',
    data: (n) => ({ organizations: [{ organizationId: 'changed', organizationName: `Name ${n}`, plan: 'pro' }] }),
  },
  {
    path: '/v2/organizations/access/disablestate/update',
    variant: 'one',
    data: (n) => ({ organizationIds: ['changed'], disabled: n === 0 }),
  },
  { path: '/v2/organizations/delete', variant: 'one', data: (n) => ({ organizationIds: [`gone-${n}`] }) },
  { path: '/v2/organizations/get', variant: 'by id', data: () => ({ organizationIds: [read.organizationId] }) },
  { path: '/v2/organizations/get', variant: 'a page', data: () => ({ pageSize: 100 }) },
  {
    path: '/v2/organizations/folders/add',
    variant: 'one at the top',
    data: (n) => ({ ...busy, folders: [{ folderId: `top-${n}`, folderName: 'Top' }] }),
  },
  {
    path: '/v2/organizations/folders/add',
    variant: 'one in a folder',
    data: (n) => ({ ...busy, folders: [{ folderId: `sub-${n}`, parentFolderId: 'contracts' }] }),
  },
  {
    path: '/v2/organizations/documents/add',
    variant: 'one',
    data: (n) => ({ ...busy, documents: [{ documentId: `one-${n}`, documentName: 'One' }] }),
  },
  {
    path: '/v2/organizations/documents/add',
    variant: 'one in a folder',
    data: (n) => ({ ...busy, folderId: 'contracts', documents: [{ documentId: `filed-${n}` }] }),
  },
  {
    path: '/v2/organizations/documents/access/update',
    variant: 'one',
    data: (n) => ({ ...busy, documentIds: ['nda'], accessType: n === 0 ? 'restricted' : 'public' }),
  },
  {
    path: '/v2/organizations/documents/update',
    variant: 'one',
    data: (n) => ({
      ...busy,
      documents: [{ documentId: 'loose', documentName: `Loose ${n}`, metadata: { version: n } }],
    }),
  },
  {
    path: '/v2/organizations/documents/access/disablestate/update',
    variant: 'one',
    data: (n) => ({ ...busy, documentIds: ['one-0'], disabled: n === 0 }),
  },
  {
    path: '/v2/organizations/documents/move',
    variant: 'one to the top',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`], folderId: 'root' }),
  },
  {
    path: '/v2/organizations/documents/move',
    variant: 'one into a folder',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`], folderId: 'contracts' }),
  },
  { path: '/v2/organizations/documents/delete', variant: 'one', data: (n) => ({ ...busy, documentIds: [`one-${n}`] }) },
  {
    path: '/v2/organizations/documents/delete',
    variant: 'one of a folder',
    data: (n) => ({ ...busy, documentIds: [`filed-${n}`] }),
  },
  { path: '/v2/organizations/documents/count/get', variant: 'of an organization', data: () => crowd },
  {
    path: '/v2/organizations/documents/count/get',
    variant: 'of a folder',
    data: () => ({ ...crowd, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/folders/get', variant: 'at the top', data: () => read },
  {
    path: '/v2/organizations/folders/get',
    variant: 'one with those directly in it',
    data: () => ({ ...read, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/folders/get', variant: 'two levels', data: () => ({ ...read, maxDepth: 2 }) },
  {
    path: '/v2/organizations/folders/update',
    variant: 'a name',
    data: (n) => ({ ...busy, folders: [{ folderId: `top-${n}`, folderName: 'Renamed' }] }),
  },
  {
    path: '/v2/organizations/folders/update',
    variant: 'one moved to the top',
    data: (n) => ({ organizationId: `moved-${n}`, folders: [{ folderId: 'drafts', parentFolderId: 'root' }] }),
  },
  {
    path: '/v2/organizations/folders/access/update',
    variant: 'one',
    data: (n) => ({ organizationId: `opened-${n}`, folderIds: ['contracts'], accessType: 'public' }),
  },
  {
    path: '/v2/organizations/documents/get',
    variant: 'by id, while folders are moved',
    data: () => ({ organizationId: 'moved-0', documentIds: ['nda'] }),
  },
  {
    path: '/v2/organizations/folders/delete',
    variant: 'one',
    data: (n) => ({ organizationId: `moved-${n}`, folderId: 'contracts' }),
  },
  { path: '/v2/organizations/documents/get', variant: 'by id', data: () => ({ ...read, documentIds: ['loose'] }) },
  {
    path: '/v2/organizations/documents/get',
    variant: 'by id, in a folder',
    data: () => ({ ...read, documentIds: ['nda'] }),
  },
  { path: '/v2/organizations/documents/get', variant: 'a page', data: () => ({ ...read, pageSize: 100 }) },
  {
    path: '/v2/organizations/documents/get',
    variant: 'a page of a folder',
    data: () => ({ ...read, folderId: 'contracts', pageSize: 100 }),
  },
  { path: '/v2/organizations/documents/get', variant: 'a hundred', data: () => ({ ...crowd, pageSize: CROWD }) },
  {
    path: '/v2/organizations/documents/get',
    variant: 'a hundred of a folder',
    data: () => ({ ...crowd, folderId: 'contracts', pageSize: CROWD }),
  },
  { path: '/v2/activities/get', variant: 'by id', data: () => ({ ...read, activityIds: ['one-of-many-7'] }) },
  {
    path: '/v2/activities/get',
    variant: 'a page of a document',
    data: () => ({ ...read, documentId: 'loose', pageSize: CROWD }),
  },
  { path: '/v2/activities/get', variant: 'a page of an organization', data: () => ({ ...read, pageSize: CROWD }) },
  {
    path: '/v2/activities/get',
    variant: 'a page of a target entity',
    data: () => ({ ...read, targetEntityId: 'signature', pageSize: 10 }),
  },
  { path: '/v2/activities/add', variant: 'one', data: () => ({ ...loose, activities: [anActivity] }) },
  {
    path: '/v2/activities/add',
    variant: 'one with an id',
    data: (n) => ({ ...loose, activities: [{ ...anActivity, id: `one-${n}` }] }),
  },
  {
    path: '/v2/activities/add',
    variant: 'one of a target entity',
    data: () => ({ ...loose, activities: [{ ...anActivity, targetEntityId: 'signature' }] }),
  },
  {
    path: '/v2/activities/add',
    variant: 'a hundred',
    data: () => ({ ...loose, activities: Array.from({ length: CROWD }, () => anActivity) }),
  },
  {
    path: '/v2/activities/update',
    variant: 'one',
    data: (n) => ({ ...busy, activities: [{ id: 'one-of-many-7', displayMessageTemplate: `Changed ${n}` }] }),
  },
  {
    path: '/v2/activities/delete',
    variant: 'one by id',
    data: (n) => ({ ...busy, activityIds: [`one-of-many-${n}`] }),
  },
  { path: '/v2/commentannotations/get', variant: 'by id', data: () => ({ ...inAcme, annotationIds: ['talk'] }) },
  { path: '/v2/commentannotations/get', variant: 'a page', data: () => ({ ...inAcme, pageSize: 100 }) },
  {
    path: '/v2/commentannotations/get',
    variant: 'a hundred',
    data: () => ({ ...crowd, documentId: 'one-of-many-0', pageSize: CROWD }),
  },
  {
    path: '/v2/commentannotations/count/get',
    variant: 'of a document',
    data: () => ({ ...crowd, documentIds: ['one-of-many-0'], userId: 'ada' }),
  },
  {
    path: '/v2/commentannotations/add',
    variant: 'one',
    data: (n) => ({
      ...inBusy,
      commentAnnotations: [{ annotationId: `one-${n}`, commentData: [{ commentText: 'A comment', from: ada }] }],
    }),
  },
  {
    path: '/v2/commentannotations/add',
    variant: 'one that notifies users',
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
    variant: 'one of an agent',
    data: (n, { agents }) => ({
      ...inBusy,
      commentAnnotations: [{ annotationId: `found-${n}`, commentData: [findingOf(agents.read, `run-${n}`)] }],
    }),
  },
  {
    path: '/v2/commentannotations/update',
    variant: 'one',
    data: (n) => ({ ...inBusy, annotationIds: ['talk'], updatedData: { status: n === 0 ? 'RESOLVED' : 'OPEN' } }),
  },
  {
    path: '/v2/commentannotations/update',
    variant: 'one with a reason',
    data: (n) => ({
      ...inBusy,
      annotationIds: [`sent-${n}`],
      updatedData: { suggestion: { status: n === 0 ? 'accepted' : 'rejected' } },
      reason: 'It is fine.',
      actionUser: ada,
    }),
  },
  { path: '/v2/commentannotations/delete', variant: 'one', data: (n) => ({ ...inBusy, annotationIds: [`one-${n}`] }) },
  { path: '/v2/commentannotations/comments/get', variant: 'by id', data: () => ({ ...talkRead, commentIds: [1] }) },
  { path: '/v2/commentannotations/comments/get', variant: 'a page', data: () => talkRead },
  {
    path: '/v2/commentannotations/comments/get',
    variant: 'a page with a reaction',
    data: () => ({ ...talkRead, annotationId: 'reacted' }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    variant: 'one',
    data: () => ({ ...talk, commentData: [{ commentText: 'A reply', from: ada }] }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    variant: 'one that notifies users',
    data: () => ({ ...talk, commentData: [{ commentText: 'A reply', from: ada, triggerNotification: true }] }),
  },
  {
    path: '/v2/commentannotations/comments/add',
    variant: 'one of an agent',
    data: (n, { agents }) => ({ ...talk, commentData: [findingOf(agents.read, `reply-${n}`)] }),
  },
  {
    path: '/v2/commentannotations/comments/update',
    variant: 'one',
    data: (n) => ({ ...talk, commentIds: [1], updatedData: { commentText: `Text ${n}` } }),
  },
  { path: '/v2/commentannotations/comments/delete', variant: 'one', data: (n) => ({ ...talk, commentIds: [2 + n] }) },
  { path: '/v2/crdt/get', variant: 'one', data: () => ({ ...inAcme, editorId: aText.editorId }) },
  { path: '/v2/crdt/get', variant: 'all of a document', data: () => inAcme },
  { path: '/v2/crdt/updates/get', variant: 'everything', data: () => ({ ...inAcme, editorId: aText.editorId }) },
  {
    path: '/v2/crdt/updates/get',
    variant: 'nothing new',
    data: (_n, { editorVersion }) => ({ ...inAcme, editorId: aText.editorId, version: editorVersion }),
  },
  { path: '/v2/crdt/add', variant: 'one', data: (n) => ({ ...inBusy, ...aText, editorId: `one-${n}` }) },
  { path: '/v2/crdt/update', variant: 'one', data: (n) => ({ ...inBusy, ...aText, data: `Text ${n}` }) },
  { path: '/v2/crdt/update', variant: 'one unchanged', data: () => ({ ...inBusy, ...aText, data: 'Text' }) },
  {
    path: '/v2/crdt/updates/push',
    variant: 'one',
    data: (n) => ({ ...inBusy, editorId: aText.editorId, update: typed[n] }),
  },
  { path: '/v2/crdt/delete', variant: 'one', data: (n) => ({ ...inBusy, editorIds: [`one-${n}`] }) },
  { path: '/v2/reactions/add', variant: 'one', data: (n) => reacting({ annotationId: `loose-${n}` }) },
  {
    path: '/v2/reactions/add',
    variant: 'one on a comment',
    data: (n) => reacting({ annotationId: `on-${n}`, commentAnnotationId: 'talk', commentId: 1 }),
  },
  {
    path: '/v2/reactions/add',
    variant: 'one more user',
    data: (n) => reacting({ annotationId: 'shared', from: { userId: `user-${n}` } }),
  },
  {
    path: '/v2/reactions/add',
    variant: 'one that exists, unchanged',
    data: () => reacting({ annotationId: 'loose-0' }),
  },
  { path: '/v2/reactions/delete', variant: 'one', data: (n) => ({ ...inBusy, annotationIds: [`loose-${n}`] }) },
  {
    path: '/v2/reactions/delete',
    variant: 'one on a comment',
    data: (n) => ({ ...inBusy, annotationIds: [`on-${n}`] }),
  },
  {
    path: '/v2/memory/judgments/add',
    variant: 'one',
    data: (n) => ({ ...inBusy, judgments: [{ ...aJudgment, recordId: `one-${n}` }] }),
  },
  {
    path: '/v2/memory/judgments/add',
    variant: 'one with content',
    data: (n) => ({
      ...inBusy,
      judgments: [{ ...aJudgment, recordId: `content-${n}`, content: 'Only 49.90 a month' }],
    }),
  },
  {
    path: '/v2/memory/judgments/add',
    variant: 'one of a thread',
    data: (n) => ({ ...inBusy, judgments: [{ ...aJudgment, recordId: `thread-${n}`, annotationId: 'talk' }] }),
  },
  { path: '/v2/memory/search', variant: 'a document', data: () => ({ ...inAcme, query: 'a price without tax' }) },
  { path: '/v2/memory/search', variant: 'an organization', data: () => ({ ...read, query: 'a price without tax' }) },
  {
    path: '/v2/memory/search',
    variant: 'everything',
    data: () => ({ query: 'a price without tax', filters: { reviewerId: 'grace' } }),
  },
  { path: '/v2/memory/search', variant: 'a thread', data: () => ({ ...read, filters: { annotationId: 'talk' } }) },
  { path: '/v2/memory/search', variant: 'the latest', data: () => ({ ...inAcme, recencyDays: 30 }) },
  { path: '/v2/memory/judgments/query', variant: 'the latest', data: () => inAcme },
  { path: '/v2/memory/judgments/query', variant: 'a thread', data: () => ({ ...read, annotationId: 'talk' }) },
  {
    path: '/v2/notifications/add',
    variant: 'one',
    data: (n) => ({ ...inBusy, ...notification, notificationId: `one-${n}` }),
  },
  {
    path: '/v2/notifications/add',
    variant: 'one that exists',
    data: () => ({ ...inAcme, ...notification, notificationId: 'read' }),
  },
  {
    path: '/v2/notifications/add',
    variant: 'one to verified users',
    data: (n) => ({ ...inBusy, ...notification, notificationId: `verified-${n}`, verifyUserPermissions: true }),
  },
  { path: '/v2/notifications/get', variant: 'by id', data: () => ({ ...read, notificationIds: ['read'] }) },
  { path: '/v2/notifications/get', variant: 'a page of a document', data: () => ({ ...inAcme, pageSize: 100 }) },
  {
    path: '/v2/notifications/get',
    variant: 'a page of a user',
    data: () => ({ ...read, userId: 'ada', pageSize: 100 }),
  },
  { path: '/v1/notifications/get', variant: 'of a document', data: () => inAcme },
  {
    path: '/v2/notifications/update',
    variant: 'one',
    data: (n) => ({ ...busy, notifications: [{ id: 'changed', readByUserIds: [`reader-${n}`] }] }),
  },
  {
    path: '/v2/notifications/config/set',
    variant: 'of one user',
    data: (n) => ({ ...busy, userIds: ['ada'], config: { inbox: n === 0 ? 'MINE' : 'ALL' } }),
  },
  {
    path: '/v2/notifications/config/get',
    variant: 'of one document',
    data: () => ({ ...read, userId: 'ada', documentIds: ['nda'] }),
  },
  { path: '/v2/users/data/get', variant: 'of one user', data: () => ({ ...read, userId: 'ada' }) },
  {
    path: '/v2/users/data/delete',
    variant: 'of a user in one organization',
    data: (n) => ({ userIds: [`erased-${n}`], organizationIds: [busy.organizationId] }),
  },
  {
    path: '/v2/users/data/delete/status',
    variant: 'of one',
    data: (_n, { erasureJobId }) => ({ jobId: erasureJobId }),
  },
  { path: '/v2/notifications/delete', variant: 'one', data: (n) => ({ ...busy, notificationIds: [`one-${n}`] }) },
  {
    path: '/v1/organizations/documents/locations/update',
    variant: 'of one notification',
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
    variant: 'with one notification',
    data: (n, { apiKey, authToken }) => ({ apiKey, authToken, documentId: 'nda', location: { id: `location-${n}` } }),
  },
  {
    path: '/v2/events/publish',
    variant: 'one',
    data: (n) => ({ ...busy, event: 'huddle.create', eventId: `huddle-${n}`, data: { note: 'A huddle' } }),
  },
  {
    path: '/v2/events/publish',
    variant: 'one of a document',
    data: () => ({ ...inBusy, event: 'comment.add', data: { note: 'A comment' } }),
  },
  {
    path: '/v2/events/publish',
    variant: 'one that exists',
    data: () => ({ ...busy, event: 'huddle.create', eventId: 'huddle-0' }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/test',
    variant: 'one',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId }),
  },
  { path: '/v2/workspace/advancedwebhook/messages/get', variant: 'a page', data: () => ({ limit: 1 }) },
  {
    path: '/v2/workspace/advancedwebhook/messages/get',
    variant: 'a page of an endpoint',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId, limit: 1 }),
  },
  {
    path: '/v2/workspace/advancedwebhook/attempts/get',
    variant: 'of a message',
    data: () => ({ messageId: 'huddle-0' }),
  },
  {
    path: '/v2/workspace/advancedwebhook/messages/resend',
    variant: 'one',
    data: (_n, { endpointIds: [endpointId] }) => ({ messageId: 'huddle-0', endpointId }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/recover',
    variant: 'nothing',
    data: (_n, { endpointIds: [endpointId] }) => ({ endpointId, since: new Date(Date.now()).toISOString() }),
  },
  {
    path: '/v2/recordings/get',
    variant: 'by id',
    data: () => ({ ...read, documentId: 'loose', recordingIds: ['walkthrough'] }),
  },
  { path: '/v2/recordings/get', variant: 'a page of a document', data: () => ({ ...read, documentId: 'loose' }) },
  { path: '/v2/recordings/get', variant: 'a page of an organization', data: () => read },
  {
    path: '/v2/recordings/add',
    variant: 'one',
    data: () => ({ ...loose, recordings: [{ recordingType: 'audio', from: { userId: 'ada' } }] }),
  },
  {
    path: '/v2/users/add',
    variant: 'one to an organization',
    data: (n) => ({ ...busy, users: [{ userId: `user-${n}`, name: 'A user', email: 'user@example.com' }] }),
  },
  {
    path: '/v2/users/add',
    variant: 'one to a document',
    data: (n) => ({ ...busy, documentId: 'nda', users: [{ userId: `reader-${n}` }] }),
  },
  {
    path: '/v2/users/add',
    variant: 'one who exists, unchanged',
    data: () => ({ ...busy, users: [{ userId: 'ada', name: 'Ada Lovelace' }] }),
  },
  { path: '/v2/users/get', variant: 'by id', data: () => ({ ...read, userIds: ['ada'] }) },
  { path: '/v2/users/get', variant: 'a page', data: () => ({ ...read, pageSize: 100 }) },
  {
    path: '/v2/users/get',
    variant: 'a page of a document',
    data: () => ({ ...read, documentId: 'nda', pageSize: 100 }),
  },
  {
    path: '/v2/users/get',
    variant: 'a page of a group',
    data: () => ({ ...read, organizationUserGroupIds: ['lawyers'], pageSize: 100 }),
  },
  {
    path: '/v2/users/get',
    variant: 'a page of all documents',
    data: () => ({ ...read, allDocuments: true, pageSize: 100 }),
  },
  { path: '/v2/users/count/get', variant: 'of an organization', data: () => crowd },
  { path: '/v2/users/count/get', variant: 'of one document', data: () => ({ ...read, documentIds: ['loose'] }) },
  {
    path: '/v2/users/update',
    variant: 'one',
    data: (n) => ({ ...busy, users: [{ userId: 'ada', name: `Ada ${n}` }] }),
  },
  {
    path: '/v2/users/update',
    variant: 'a role',
    data: (n) => ({ ...busy, users: [{ userId: 'ada', accessRole: n % 2 ? 'viewer' : 'editor' }] }),
  },
  { path: '/v2/users/delete', variant: 'one from an organization', data: (n) => ({ ...busy, userIds: [`user-${n}`] }) },
  {
    path: '/v2/users/delete',
    variant: 'one from a document',
    data: (n) => ({ ...busy, documentId: 'nda', userIds: [`reader-${n}`] }),
  },
  { path: '/v2/users/get', variant: 'a hundred', data: () => ({ ...crowd, pageSize: CROWD }) },
  {
    path: '/v2/organizations/usergroups/add',
    variant: 'one',
    data: (n) => ({ ...busy, organizationUserGroups: [{ groupId: `group-${n}`, groupName: 'A group' }] }),
  },
  {
    path: '/v2/organizations/usergroups/get',
    variant: 'by id',
    data: () => ({ ...read, organizationUserGroupIds: ['lawyers'] }),
  },
  { path: '/v2/organizations/usergroups/get', variant: 'a page', data: () => read },
  {
    path: '/v2/organizations/usergroups/get',
    variant: 'a page with the users',
    data: () => ({ ...read, includeUsers: true }),
  },
  {
    path: '/v2/organizations/usergroups/users/add',
    variant: 'one',
    data: (n) => ({ ...lawyers, userIds: [`one-of-many-${90 + n}`] }),
  },
  {
    path: '/v2/organizations/usergroups/users/add',
    variant: 'one who exists',
    data: () => ({ ...lawyers, userIds: ['ada'] }),
  },
  {
    path: '/v1/organizations/usergroups/users/delete',
    variant: 'one',
    data: (n) => ({ ...lawyers, userIds: [`one-of-many-${n}`] }),
  },
  {
    path: '/v1/organizations/usergroups/users/delete',
    variant: 'all of fifty',
    data: (n) => ({ ...busy, organizationUserGroupId: `fifty-${n}`, deleteAll: true }),
  },
  {
    path: '/v2/auth/permissions/add',
    variant: 'one document',
    data: () => ({ user: { userId: 'ada' }, permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] } }),
  },
  {
    path: '/v2/auth/permissions/add',
    variant: 'one document, to a new user',
    data: (n) => ({
      user: { userId: `new-${n}` },
      permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
    }),
  },
  { path: '/v2/auth/permissions/get', variant: 'on the organization', data: () => ({ ...read, userIds: ['ada'] }) },
  {
    path: '/v2/auth/permissions/get',
    variant: 'on a folder',
    data: () => ({ ...read, userIds: ['ada'], folderIds: ['contracts'] }),
  },
  {
    path: '/v2/auth/permissions/get',
    variant: 'on a document',
    data: () => ({ ...read, userIds: ['ada'], documentIds: ['loose'] }),
  },
  {
    path: '/v2/auth/permissions/get',
    variant: 'on a document in a folder',
    data: () => ({ ...read, userIds: ['ada'], documentIds: ['nda'] }),
  },
  {
    path: '/v2/auth/permissions/remove',
    variant: 'one document',
    data: () => ({ userId: 'ada', permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] } }),
  },
  {
    path: '/v2/auth/generate_signature',
    variant: 'of one permission',
    data: () => ({ permissions: [{ userId: 'ada', resourceId: 'nda', type: 'document', hasAccess: true }] }),
  },
  {
    path: '/v2/auth/generate_token',
    variant: 'for a known user and a document',
    data: () => ({
      userId: 'ada',
      userProperties: { name: 'Ada', email: 'ada@example.com' },
      permissions: { resources: [{ type: 'document', id: 'nda', ...busy }] },
    }),
  },
  {
    path: '/v2/auth/token/get',
    variant: 'for a known member',
    data: () => ({ userId: 'ada', userProperties: busy }),
  },
  {
    path: '/v1/auth/token/get',
    variant: 'for a known member',
    data: (_n, { apiKey, authToken }) => ({ apiKey, authToken, userId: 'ada', userProperties: busy }),
  },
  { path: '/v2/agents/get', variant: 'a custom one', data: (_n, { agents }) => ({ agentId: agents.read }) },
  { path: '/v2/agents/get', variant: 'a built-in one', data: () => ({ agentId: 'spell-check' }) },
  { path: '/v2/agents/get', variant: 'all', data: () => ({}) },
  { path: '/v2/agents/get', variant: 'of a group', data: (_n, { agentGroups }) => ({ groupId: agentGroups.read }) },
  {
    path: '/v2/agents/extract',
    variant: 'a table',
    data: () => ({
      fileBase64: Buffer.from('name,instructions\nTone,Flag what shouts.').toString('base64'),
      mimeType: 'text/csv',
    }),
  },
  {
    path: '/v2/agents/create',
    variant: 'one',
    data: (n) => ({ name: `Agent ${n}`, instructions: 'Look for mistakes.' }),
  },
  {
    path: '/v2/agents/create',
    variant: 'one with a secret',
    data: (n) => ({ name: `Agent ${n}`, execution: { executionStrategy: 'mcp-tools', mcpServers: [anMcpServer] } }),
  },
  {
    path: '/v2/agents/update',
    variant: 'one',
    data: (n, { agents }) => ({ agentId: agents.changed, enabled: n === 0 }),
  },
  { path: '/v2/agents/update', variant: 'a built-in one', data: (n) => ({ agentId: 'lorem-ipsum', enabled: n === 0 }) },
  {
    path: '/v2/agents/version/update',
    variant: 'one',
    data: (n, { agents }) => ({ agentId: agents.changed, instructions: `Look ${n} times.` }),
  },
  { path: '/v2/agents/versions/list', variant: 'of one', data: (_n, { agents }) => ({ agentId: agents.read }) },
  { path: '/v2/agents/versions/restore', variant: 'one', data: (_n, { agents }) => ({ agentId: agents.restored }) },
  {
    path: '/v2/agents/delete',
    variant: 'one',
    data: (n, { agents }) => ({ agentId: agents[n === 0 ? 'gone-0' : 'gone-1'] }),
  },
  {
    path: '/v2/agents/groups/create',
    variant: 'one',
    data: (n, { agents }) => ({ name: `Group ${n}`, agentIds: [agents.read] }),
  },
  { path: '/v2/agents/groups/get', variant: 'one', data: (_n, { agentGroups }) => ({ groupId: agentGroups.read }) },
  { path: '/v2/agents/groups/list', variant: 'all', data: () => ({}) },
  {
    path: '/v2/agents/groups/update',
    variant: 'one',
    data: (n, { agentGroups }) => ({ groupId: agentGroups.changed, name: `Name ${n}` }),
  },
  {
    path: '/v2/agents/groups/add-agents',
    variant: 'one',
    data: (n, { agents, agentGroups }) => ({
      groupId: agentGroups.changed,
      agentIds: [n === 0 ? agents.read : agents.changed],
    }),
  },
  {
    path: '/v2/agents/groups/remove-agents',
    variant: 'one',
    data: (n, { agents, agentGroups }) => ({
      groupId: agentGroups.changed,
      agentIds: [n === 0 ? agents.read : agents.changed],
    }),
  },
  {
    path: '/v2/agents/groups/delete',
    variant: 'one',
    data: (n, { agentGroups }) => ({ groupId: agentGroups[n === 0 ? 'gone-0' : 'gone-1'] }),
  },
  { path: '/v2/workspace/email/status', variant: 'of one owner', data: (_n, { ownerEmail }) => ({ ownerEmail }) },
  {
    path: '/v2/workspace/email/send-login-link',
    variant: 'to one owner',
    data: (_n, { ownerEmail }) => ({ email: ownerEmail, continueUrl: 'https://app.example.com/' }),
  },
  { path: '/v2/workspace/create', variant: 'one', data: (n) => ({ ownerEmail: `bench-${n}@example.com` }) },
  { path: '/v2/workspace/get', variant: 'its own', data: () => ({}) },
  {
    path: '/v2/workspace/apikey/create',
    variant: 'one',
    data: (_n, { ownerEmail }) => ({ ownerEmail, type: 'testing' }),
  },
  {
    path: '/v2/workspace/apikey/update',
    variant: 'one',
    data: (n, { secondApiKey }) => ({ apiKey: secondApiKey, apiKeyName: `Second ${n}` }),
  },
  {
    path: '/v2/workspace/apikeys/get',
    variant: 'by id',
    data: (_n, { secondApiKey }) => ({ apiKeys: [secondApiKey] }),
  },
  { path: '/v2/workspace/apikeys/get', variant: 'a page', data: () => ({}) },
  {
    path: '/v2/workspace/authtokens/get',
    variant: 'of one key',
    data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }),
  },
  {
    path: '/v2/workspace/authtoken/reset',
    variant: 'of one key',
    data: (_n, { secondApiKey }) => ({ apiKey: secondApiKey }),
  },
  { path: '/v2/workspace/domains/add', variant: 'one', data: (n) => ({ domains: [`added-${n}.example.com`] }) },
  { path: '/v2/workspace/domains/delete', variant: 'one', data: (n) => ({ domains: [`removed-${n}.example.com`] }) },
  { path: '/v2/workspace/domains/get', variant: 'all', data: () => ({}) },
  ...readConfigs.map((name): Scenario => ({
    path: `/v2/workspace/${name}config/get`,
    variant: 'it',
    data: () => ({}),
  })),
  {
    path: '/v2/workspace/activityconfig/update',
    variant: 'it',
    data: (n) => ({ activityServiceConfig: { immutable: n === 0 } }),
  },
  { path: '/v2/workspace/advancedwebhookconfig/update', variant: 'it', data: (n) => ({ encodeData: n === 0 }) },
  {
    path: '/v2/workspace/apikeyconfig/update',
    variant: 'it',
    data: (n) => ({ defaultDocumentAccessType: n === 0 ? 'restricted' : 'public' }),
  },
  {
    path: '/v2/workspace/emailconfig/update',
    variant: 'it',
    data: (n) => ({ emailServiceConfig: { fromCompany: `Company ${n}` } }),
  },
  {
    path: '/v2/workspace/notificationconfig/update',
    variant: 'it',
    data: (n) => ({ notificationServiceConfig: { triggers: { huddle: { join: n === 0 } } } }),
  },
  {
    path: '/v2/workspace/permissionproviderconfig/update',
    variant: 'it',
    data: (n) => ({ usePermissionProvider: n === 0 }),
  },
  {
    path: '/v2/workspace/webhookconfig/update',
    variant: 'it',
    data: (n) => ({ webhookServiceConfig: { rawNotificationUrl: `https://hooks.example.com/${n}` } }),
  },
  { path: '/v2/workspace/advancedwebhook/endpoints/get', variant: 'a page', data: () => ({}) },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/create',
    variant: 'one',
    data: (n) => ({ url: 'https://hooks.example.com', description: `Endpoint ${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/create',
    variant: 'one with a uid',
    data: (n) => ({ url: 'https://hooks.example.com', uid: `endpoint-${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/update',
    variant: 'one',
    data: (n, { endpointIds }) => ({ endpointId: endpointIds[2], description: `Changed ${n}` }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/get',
    variant: 'of one endpoint',
    data: (_n, { endpointIds }) => ({ endpointId: endpointIds[2] }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate',
    variant: 'of one endpoint',
    data: (_n, { endpointIds }) => ({ endpointId: endpointIds[2], overlapSeconds: 0 }),
  },
  {
    path: '/v2/workspace/advancedwebhook/endpoints/delete',
    variant: 'one',
    data: (n, { endpointIds }) => ({ endpointId: endpointIds[n] }),
  },
];

/** Creates the workspace. Each organization gets the data of the examples, and further data that scenarios read. */
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
  // No worker runs here. A resend writes a delivery at once, which the endpoint's list then contains.
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

/** Sends the request of a scenario twice. Returns the cost of the second request. */
export async function costOf(recorder: Recorder, subject: Subject, { path, data }: Scenario): Promise<Cost> {
  const endpoint = endpointAt(path);
  await send(endpoint, subject, data(0, subject));
  const { calls } = await recorder.record(() => send(endpoint, subject, data(1, subject)));
  return costOfCalls(endpoint.freshCredentials ? calls.slice(1) : calls);
}

export function costOfCalls(calls: readonly AwsCall[]): Cost {
  return { calls: calls.length, roundTrips: new Set(calls.map(({ wave }) => wave)).size, ...total(calls) };
}

/** Sends `data` with the credentials that the endpoint requires. Throws if the request or one of its items fails. */
async function send({ path, auth }: Endpoint, { headers, keyHeaders }: TestWorkspace, data: unknown): Promise<any> {
  const credentials: Record<Endpoint['auth'], Headers> = { apiKey: keyHeaders, workspace: headers, user: {}, none: {} };
  const { status, body } = await post(await handlerOf(path), credentials[auth], data);
  if (status !== 200 || JSON.stringify(body).includes('"success":false'))
    throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

export function endpointAt(path: string): Endpoint {
  const endpoint = Object.values<Endpoint>(registry).find((each) => each.path === path);
  if (!endpoint) throw new Error(`There is no endpoint ${path}`);
  return endpoint;
}
