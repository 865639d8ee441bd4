import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { documentOf } from '../support/documented.ts';
import { times } from '../support/times.ts';
import { endpoints } from './cases.ts';
import { documentedFields, sampleOf } from './documentedFields.ts';

interface Filters {
  /** A request without filters. */
  readonly base: object;
  /** Each leaves out some rows of the answer. Two together leave out the rows of both. */
  readonly narrowing?: Readonly<Record<string, unknown>>;
  /** Other requests that narrowing fields narrow too, if they may stand beside them. */
  readonly contexts?: readonly object[];
  /** Narrowing fields that replace others, as the reference says. */
  readonly replaces?: Readonly<Record<string, readonly string[]>>;
  /** Each changes the answer of the base, or of the base with the fields beside it. */
  readonly changing?: Readonly<Record<string, readonly [value: unknown, beside?: object]>>;
  /** Returns the ids of the rows of an answer. */
  readonly idsOf?: (result: any) => unknown[];
}

const DAY = 24 * 60 * 60_000;
const START = Date.now() - 20 * DAY;
const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };
const documentIds = ['nda', 'tos', 'msa'];
const ownerFilter = [{ key: 'owner', operator: '==', value: 'legal' }];
const rowIds =
  (name: string) =>
  ({ data }: { data: Record<string, unknown>[] }) =>
    data.map((row) => row[name]);
const judgmentIds = ({ results }: { results: { recordId: string }[] }) => results.map(({ recordId }) => recordId);
const invitationIds = ({ data }: { data: Record<string, unknown>[] }) =>
  data.map(({ email, type, documentId }) => JSON.stringify([email, type, documentId]));
const notificationFilters = {
  documentId: 'nda',
  userId: 'ada',
  locationId: '1',
  notificationIds: times(4, (n) => `notification-${n}`),
};
const judgmentFilters = { decision: 'rejected', judgeType: 'agent', contentType: 'clause', reviewerId: 'ada' };
const under = (prefix: string, fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]));

let agentId = '';
let groupId = '';
let otherKey = '';

const readFilters = (): Record<string, Filters> => ({
  '/v2/activities/get': {
    base: acme,
    narrowing: {
      documentId: 'nda',
      targetEntityId: 'target-0',
      featureTypes: ['custom'],
      actionTypes: ['opened'],
      userId: 'ada',
      activityIds: times(4, (n) => `activity-${n}`),
    },
    changing: { order: ['asc'] },
    idsOf: rowIds('id'),
  },
  '/v2/agents/get': {
    base: {},
    narrowing: { filter: 'customOnly', groupId: groupId },
    changing: { agentId: [agentId] },
    idsOf: ({ data }) => data.agents.map(({ id }: { id: string }) => id),
  },
  '/v2/auth/permissions/get': {
    base: { ...acme, userIds: ['ada'] },
    changing: {
      folderIds: [['contracts']],
      documentIds: [['nda']],
      skipResourceExistenceValidation: [true, { documentIds: ['unknown'] }],
    },
  },
  '/v2/commentannotations/get': {
    base: acme,
    narrowing: {
      documentId: 'nda',
      documentIds: ['nda', 'tos'],
      folderId: 'contracts',
      annotationIds: times(8, (n) => `thread-${n}`),
      locationIds: ['1'],
      userIds: ['ada'],
      mentionedUserIds: ['grace'],
      resolvedBy: 'grace',
      statusIds: ['RESOLVED'],
      statusId: 'OPEN',
      createdAfter: 4 * DAY,
      createdBefore: 9 * DAY,
      updatedAfter: 24 * DAY,
      updatedBefore: 28 * DAY,
      agentId,
      executionId: 'run-1',
      agentType: 'checker',
      agentSource: 'external',
      agentSuggestions: true,
      agentComments: true,
    },
    changing: { groupByDocumentId: [true], order: ['asc'], includeMetadata: [false], includePageInfo: [false] },
    idsOf: ({ data }) => data.flatMap((thread: any) => thread?.annotationId ?? []),
  },
  '/v2/commentannotations/count/get': {
    base: { ...acme, documentIds, userId: 'ada' },
    changing: { statusIds: [['RESOLVED']] },
  },
  '/v2/commentannotations/comments/get': {
    base: { ...nda, annotationId: 'thread-0' },
    narrowing: { userIds: ['ada'], commentIds: [1, 2] },
    idsOf: ({ data }) => data.flatMap((comment: any) => comment?.commentId ?? []),
  },
  '/v2/crdt/get': { base: nda, narrowing: { editorId: 'text', type: 'map' }, idsOf: rowIds('id') },
  '/v2/memory/judgments/query': {
    base: acme,
    narrowing: { documentId: 'nda', documentIds: ['tos', 'msa'], ...judgmentFilters, annotationId: 'thread-1' },
    changing: { organizationId: ['acme', { organizationId: null }] },
    replaces: { documentId: ['documentIds'] },
    idsOf: judgmentIds,
  },
  '/v2/memory/search': {
    base: { ...acme, query: 'price', limit: 50 },
    narrowing: {
      documentId: 'nda',
      docId: 'nda',
      documentIds: ['tos', 'msa'],
      ...under('filters.', judgmentFilters),
      'filters.annotationId': 'thread-1',
      'filters.excludeDocumentIds': ['msa'],
      'filters.dateRange': { start: START + 5 * DAY },
      'filters.dateRange.start': START + 5 * DAY,
      'filters.dateRange.end': START + 6 * DAY,
      recencyDays: 15,
    },
    changing: {
      organizationId: ['acme', { organizationId: null }],
      orgId: ['acme', { organizationId: null }],
      scope: ['organization', nda],
      embeddingType: ['content'],
    },
    replaces: {
      documentId: ['documentIds'],
      docId: ['documentIds'],
      recencyDays: ['filters.dateRange', 'filters.dateRange.start', 'filters.dateRange.end'],
      'filters.annotationId': ['recencyDays'],
    },
    idsOf: judgmentIds,
  },
  '/v1/notifications/get': { base: acme, narrowing: notificationFilters, idsOf: rowIds('id') },
  '/v2/notifications/config/get': {
    base: { ...acme, userId: 'ada' },
    changing: { documentIds: [['nda']], getOrganizationConfig: [true, { documentIds: ['nda'] }] },
  },
  '/v2/notifications/get': {
    base: acme,
    narrowing: notificationFilters,
    changing: { order: ['asc'] },
    idsOf: rowIds('id'),
  },
  '/v2/organizations/documents/count/get': {
    base: acme,
    changing: { folderId: ['contracts'], excludeFolderDocs: [true], filters: [ownerFilter] },
  },
  '/v2/organizations/documents/get': {
    base: acme,
    narrowing: { documentIds: ['nda', 'tos'], folderId: 'contracts', filters: ownerFilter },
    idsOf: rowIds('id'),
  },
  '/v2/organizations/folders/get': {
    base: acme,
    changing: { folderId: ['contracts'], maxDepth: [3], rootFoldersOnly: [true, { maxDepth: 3 }] },
  },
  '/v2/organizations/get': { base: {}, narrowing: { organizationIds: ['acme'] }, idsOf: rowIds('id') },
  '/v2/recordings/get': {
    base: acme,
    narrowing: { documentId: 'nda', recordingIds: ['recording-0', 'recording-1'] },
    idsOf: rowIds('annotationId'),
  },
  '/v2/users/count/get': {
    base: acme,
    changing: {
      documentId: ['nda'],
      allDocuments: [true],
      userId: ['ada'],
      documentIds: [['nda']],
      folderId: ['contracts'],
    },
  },
  '/v2/users/data/get': {
    base: { userId: 'ada', ...acme },
    changing: { organizationId: ['beta'], uniqueId: ['mine'], svcAllOrganizations: [true, { organizationId: null }] },
  },
  '/v2/users/get': {
    base: acme,
    narrowing: { userIds: ['ada', 'bob'], searchKey: 'ada' },
    changing: {
      documentId: ['nda'],
      folderId: ['contracts'],
      organizationUserGroupIds: [['lawyers']],
      allDocuments: [true],
      groupByDocumentId: [true, { documentId: 'nda' }],
      includeInvolvedDocuments: [true, { userIds: ['ada'] }],
      includeInvolvedDocumentsCount: [true, { userIds: ['ada'] }],
    },
    contexts: [nda, { folderId: 'contracts' }, { organizationUserGroupIds: ['lawyers'] }, { allDocuments: true }],
    idsOf: rowIds('userId'),
  },
  '/v2/users/invitations/get': {
    base: { ...acme, email: 'ada@example.com' },
    narrowing: { status: 'PENDING', type: 'doc_user' },
    idsOf: invitationIds,
  },
  '/v2/users/doc/get': {
    base: acme,
    narrowing: { userIds: ['ada', 'bob'] },
    changing: { includeInvolvedDocuments: [true, { userIds: ['ada'] }] },
    idsOf: rowIds('userId'),
  },
  '/v2/users/invite/get': {
    base: acme,
    narrowing: { email: 'ada@example.com', isPendingUsersOnly: true },
    idsOf: invitationIds,
  },
  '/v2/workspace/apikeys/get': { base: {}, narrowing: { apiKeys: [otherKey] }, idsOf: rowIds('id') },
});

/** Fields of reads that select nothing. */
const others: Readonly<Record<string, RegExp>> = {
  'they page a listing': /(pageSize|pageToken|limit|iterator)$/,
  'what a search compares': / query$/,
  'values other than false are refused, in the list of refused fields': /(isServerIds|orderByCommentViews|svcUserIds)$/,
  'a list of conditions, of which each has all': / filters(\[\]\.\w+)?$/,
  'they read no stored rows': /^\/v2\/(agents\/extract|auth\/generate_signature) /,
  'their rows come from deliveries, see test/integration/webhooks':
    /^\/v2\/workspace\/advancedwebhook\/(messages|attempts)\/get /,
  'a job deletes, see test/integration/deletion': /^\/v2\/users\/data\/delete organizationIds$/,
  'profiles are the same in all organizations': /^\/v2\/users\/update options\.\w+$/,
  'without it the call is refused': /^\/v1\/organizations\/usergroups\/users\/delete userIds$/,
};

const addNotification = (customer: Customer, n: number, at: object, user: object) =>
  customer.untyped('/v2/notifications/add', {
    ...at,
    notificationId: `notification-${n}`,
    actionUser: { userId: 'cyd' },
    notifyUsers: [user],
    notifyAll: false,
    displayHeadlineMessageTemplate: 'Signed',
    displayBodyMessage: 'Done',
    location: { id: String(n % 2) },
  });

/** Adds twelve records of each kind, whose fields differ in many combinations. */
async function fill(customer: Customer): Promise<void> {
  const of = (n: number) => ({ ...acme, documentId: documentIds[n % 3] });
  const user = (n: number) => ({ userId: n % 4 < 2 ? 'ada' : 'grace' });
  await customer.addFolders(['contracts', { folderId: 'drafts', parentFolderId: 'contracts' }]);
  await customer.addDocuments([
    { documentId: 'tos', metadata: { owner: 'legal' } },
    { documentId: 'msa', metadata: {} },
  ]);
  await customer.addDocuments([{ documentId: 'nda', metadata: { owner: 'legal' } }], { folderId: 'contracts' });
  await customer.addOrganizations(['beta']);
  await customer.addDocuments(['nda'], { organizationId: 'beta' });
  await customer.addUsers(['ada', 'bob', 'grace', 'fay']);
  await customer.addUsers(['bob', 'fay'], { ...acme, documentId: 'tos' });
  await customer.addUsers(['ada', 'bob', 'cyd'], nda);
  await customer.addUsers(['ada', 'cyd'], { folderId: 'contracts' });
  await customer.addGroup('lawyers', ['ada', 'grace']);
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  ({ agentId } = await customer.ok('/v2/agents/create', { name: 'Tone' }));
  const group = { name: 'Mine', agentIds: [agentId, 'spell-check'] };
  ({ id: groupId } = (await customer.ok('/v2/agents/groups/create', group)).group);
  const workspaceCall = async (path: string, data: object) =>
    (await customer.call(`/v2/workspace/${path}`, data, customer.workspaceHeaders)).body.result.data;
  const ownerEmail = (await workspaceCall('get', {})).owner.email;
  ({ apiKey: otherKey } = await workspaceCall('apikey/create', { ownerEmail, type: 'testing' }));
  for (const n of times(12, Number)) {
    const source =
      n % 2 === 0
        ? { agentSource: 'external', agentId: 'theirs', agentName: 'Theirs' }
        : { agentSource: 'svc', agentId };
    const reason = { title: 'Tone', description: 'It shouts.', severity: 'low' };
    const agent = {
      ...source,
      executionId: `run-${n % 3}`,
      agentType: n % 5 < 2 ? 'checker' : 'crawler',
      reason,
      url: `https://example.com/${n % 2}`,
    };
    const comment = {
      commentId: 1,
      commentText: 'hi',
      from: user(n),
      triggerNotification: false,
      ...(n > 5 && { agent }),
    };
    const mentioned = { ...comment, taggedUserContacts: n % 5 < 3 ? [{ userId: 'grace' }] : [] };
    await customer.untyped('/v2/commentannotations/add', {
      ...of(n),
      commentAnnotations: [
        {
          annotationId: `thread-${n}`,
          type: n % 4 < 2 ? 'suggestion' : 'comment',
          commentData: [
            mentioned,
            { commentId: 2, commentText: 'yes', from: { userId: 'bob' } },
            { commentId: 3, commentText: 'no', from: user(n) },
          ],
          location: { id: String(n % 2) },
          pageInfo: { url: 'https://example.com' },
          createdAt: n * DAY,
        },
      ],
    });
    await customer.untyped('/v2/commentannotations/update', {
      ...of(n),
      annotationIds: [`thread-${n}`],
      updatedData: {
        status: n % 3 === n % 2 ? 'RESOLVED' : 'OPEN',
        ...(n % 3 === n % 2 && { resolvedByUserId: user(n + 1).userId }),
        lastUpdated: (20 + n) * DAY,
      },
    });
    await customer.untyped('/v2/activities/add', {
      ...of(n),
      activities: [
        {
          id: `activity-${n}`,
          featureType: n % 2 ? 'custom' : 'comment',
          actionType: n % 5 < 3 ? 'opened' : 'closed',
          actionUser: user(n),
          targetEntityId: `target-${n % 2}`,
        },
      ],
    });
    await addNotification(customer, n, of(n), user(n));
    await customer.addRecordings([{ annotationId: `recording-${n}`, recordingType: 'audio', from: user(n) }], of(n));
    await customer.ok('/v2/memory/judgments/add', {
      ...of(n),
      judgments: [
        {
          recordId: `judgment-${n}`,
          decision: n % 2 ? 'rejected' : 'approved',
          reasoning: `The price of ${n}`,
          contentType: n % 5 < 3 ? 'clause' : 'text',
          actionUser: user(n),
          annotationId: `thread-${Math.floor(n / 4)}`,
          createdAt: START + n * DAY,
          ...(n % 3 === 0 && { agent: { agentId } }),
        },
      ],
    });
  }
  const elsewhere = { recordId: 'beta', decision: 'approved', reasoning: 'A price', actionUser: user(0) };
  await customer.ok('/v2/memory/judgments/add', { organizationId: 'beta', judgments: [elsewhere] });
  for (const email of ['ada@example.com', 'grace@example.com'])
    for (const [to, status] of [
      [{ type: 'org_user' }, 'REJECTED'],
      [{ type: 'folder_user', folderId: 'contracts' }],
      [{ type: 'doc_user', documentId: 'nda' }],
      [{ type: 'doc_user', documentId: 'tos' }, 'WITHDRAWN'],
    ] as const) {
      await customer.ok('/v2/users/invite/add', { ...acme, email, ...to });
      if (status) await customer.ok('/v2/users/invite/respond', { ...acme, email, ...to, status });
    }
  for (const [editorId, type, data] of [
    ['text', 'text', 'a'],
    ['map', 'map', {}],
  ])
    await customer.untyped('/v2/crdt/add', { ...nda, editorId, type, data });
  for (const [inbox, where] of [
    ['NONE', {}],
    ['MINE', { documentIds: ['nda'] }],
  ] as ['NONE' | 'MINE', object][])
    await customer.ok('/v2/notifications/config/set', { ...acme, ...where, userIds: ['ada'], config: { inbox } });
}

type Seed = (customer: Customer) => Promise<unknown>;

const seedThreads: Seed = async (customer) => {
  await customer.addDocuments(['nda']);
  ({ agentId } = await customer.ok('/v2/agents/create', { name: 'Tone' }));
  const reason = { title: 'Tone', description: 'It shouts.', severity: 'low' };
  const url = 'https://example.com';
  const threadBy = (annotationId: string, from: string, location: string, agent?: object) => ({
    annotationId,
    location: { id: location },
    type: agent ? 'suggestion' : 'comment',
    commentData: [
      { commentId: 1, commentText: 'hi', from: { userId: from }, ...(agent && { agent }) },
      { commentId: 2, commentText: 'yes', from: { userId: 'bob' } },
    ],
  });
  const commentAnnotations = [
    threadBy('thread-0', 'ada', '1'),
    threadBy('thread-1', 'grace', '2'),
    threadBy('thread-2', 'grace', '2', { agentSource: 'svc', agentId, reason, url }),
  ];
  await customer.untyped('/v2/commentannotations/add', { ...nda, commentAnnotations });
};

const seedNotifications: Seed = async (customer) => {
  await customer.addDocuments(['nda', 'tos']);
  for (const n of times(4, Number))
    await addNotification(
      customer,
      n,
      { ...acme, documentId: n < 3 ? 'nda' : 'tos' },
      { userId: n % 2 ? 'grace' : 'ada' },
    );
};

const seedActivities: Seed = async (customer) => {
  await customer.addDocuments(['nda', 'tos']);
  const activityServiceConfig = { isEnabled: true, immutable: false };
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig });
  const activity = { featureType: 'custom', actionType: 'opened', actionUser: { userId: 'ada' } };
  for (const documentId of ['nda', 'tos'])
    await customer.untyped('/v2/activities/add', {
      ...acme,
      documentId,
      activities: times(2, (n) => ({ ...activity, id: `${documentId}-${n}`, targetEntityId: `target-${n}` })),
    });
};

const seedEditors: Seed = async (customer) => {
  await customer.addDocuments(['nda']);
  for (const editorId of ['a', 'b']) await customer.ok('/v2/crdt/add', { ...nda, editorId, type: 'text', data: 'a' });
};

const seedUsers: Seed = async (customer) => {
  await customer.addDocuments(['nda']);
  await customer.addFolders(['contracts']);
  for (const scope of [acme, nda, { folderId: 'contracts' }]) await customer.addUsers(['cyd'], scope);
};

interface Selectors {
  readonly seed: Seed;
  readonly base: object;
  /** What shows the effect, if the answer does not. */
  readonly effect?: readonly [path: string, data: object];
  /** Each selects some of the records that the base selects, or other ones. */
  readonly selecting: Readonly<Record<string, readonly [value: unknown, beside?: object]>>;
}

const threadSelectors = { annotationIds: [['thread-0']], locationIds: [['1']], userIds: [['ada']] } as const;
const commentSelectors = { commentIds: [[1]], userIds: [['ada']] } as const;
const inThread = { ...nda, annotationId: 'thread-0' };
const userSelectors = { documentId: ['nda'], folderId: ['contracts'] } as const;

const writeSelectors = (): Record<string, Selectors> => ({
  '/v2/activities/delete': {
    seed: seedActivities,
    base: nda,
    selecting: {
      documentId: ['nda', { documentId: null, targetEntityId: 'target-0' }],
      targetEntityId: ['target-0'],
      activityIds: [['nda-0']],
    },
  },
  '/v2/commentannotations/comments/delete': { seed: seedThreads, base: inThread, selecting: commentSelectors },
  '/v2/commentannotations/comments/update': {
    seed: seedThreads,
    base: { ...inThread, updatedData: { commentText: 'other' } },
    selecting: commentSelectors,
  },
  '/v2/commentannotations/delete': {
    seed: seedThreads,
    base: nda,
    selecting: {
      ...threadSelectors,
      agentId: [agentId],
      agentSuggestions: [true],
      agentUrls: [['https://example.com']],
    },
  },
  '/v2/commentannotations/update': {
    seed: seedThreads,
    base: { ...nda, updatedData: { priority: { id: 'P1', name: 'High' } }, userIds: ['ada', 'grace'] },
    selecting: { ...threadSelectors, userIds: [['ada'], { userIds: null, locationIds: ['1', '2'] }] },
  },
  '/v2/crdt/delete': { seed: seedEditors, base: nda, selecting: { editorIds: [['a']] } },
  '/v2/notifications/delete': {
    seed: seedNotifications,
    base: nda,
    selecting: {
      documentId: ['nda', { documentId: null, locationId: '1' }],
      locationId: ['1'],
      userId: ['ada'],
      notificationIds: [['notification-0']],
    },
  },
  '/v2/notifications/update': {
    seed: seedNotifications,
    base: { ...acme, notifications: times(4, (n) => ({ id: `notification-${n}`, displayBodyMessage: 'New' })) },
    selecting: { documentId: ['nda'], locationId: ['1'], userId: ['ada'] },
  },
  '/v2/users/delete': {
    seed: seedUsers,
    base: { ...acme, userIds: ['cyd'] },
    effect: ['/v2/users/get', acme],
    selecting: userSelectors,
  },
  '/v2/users/update': {
    seed: seedUsers,
    base: { ...acme, users: [{ userId: 'cyd', accessRole: 'viewer' }] },
    effect: ['/v2/auth/permissions/get', { ...acme, userIds: ['cyd'] }],
    selecting: userSelectors,
  },
});

/** Returns a request with the value in a field such as `filters.decision`. */
function withField(request: object, field: string, value: unknown): Record<string, unknown> {
  const [first = '', ...rest] = field.split('.');
  const sent = request as Record<string, unknown>;
  return {
    ...sent,
    [first]: rest.length === 0 ? value : withField(sent[first] ?? {}, rest.join('.'), value),
  };
}

const { customer } = acmeWorld({ isShared: true });
beforeAll(() => fill(customer));

/** Returns the status and the content of an answer, without the time that it took. */
async function answer(path: string, data: object): Promise<{ status: number; result: any; message: string }> {
  const { status, body } = await customer.call(path, data, customer.workspaceHeaders);
  return { status, result: { ...body.result, searchLatencyMs: 0 }, message: body.error?.message };
}

const names = (filters: Filters) => Object.keys({ ...filters.narrowing, ...filters.changing });
const rows = Object.entries(readFilters()).flatMap(([path, filters]) =>
  names(filters).map((field) => [path, field] as const),
);

describe('each filter of a read', () => {
  test.each(rows)('%s answers otherwise with %s than without', async (path, field) => {
    const { base, narrowing = {}, changing = {} } = readFilters()[path]!;
    const [value, beside] = changing[field] ?? [narrowing[field]];
    const request = { ...base, ...beside };
    const [filtered, plain] = [await answer(path, withField(request, field, value)), await answer(path, request)];
    expect([filtered.status, filtered.message]).toEqual([200, undefined]);
    expect(filtered.result).not.toEqual(plain.result);
  });
});

const narrowed = Object.entries(readFilters()).filter(([, { narrowing }]) => narrowing !== undefined);

/** Returns the sorted ids of an answer, or undefined if it refuses that its fields stand together. */
async function found(
  path: string,
  idsOf: NonNullable<Filters['idsOf']>,
  request: object,
): Promise<unknown[] | undefined> {
  const { status, result, message } = await answer(path, request);
  if (status === 200) return idsOf(result).toSorted();
  expect(message).toMatch(/must not be given/);
  return undefined;
}

describe('two filters of a read together', () => {
  test.each(narrowed.map(([path]) => path))('%s leaves out what either leaves out', async (path) => {
    const { base, narrowing = {}, contexts = [], replaces = {}, idsOf = () => [] } = readFilters()[path]!;
    const wrong: string[] = [];
    for (const context of [{}, ...contexts]) {
      const request = { ...base, ...context };
      const alone = new Map<string, unknown[] | undefined>();
      for (const [field, value] of Object.entries(narrowing))
        alone.set(field, await found(path, idsOf, withField(request, field, value)));
      const all = (await found(path, idsOf, request)) ?? [];
      const isReplaced = (field: string, other: string) =>
        [...Object.keys(context), other].some((name) => replaces[name]?.includes(field));
      for (const [field, value] of Object.entries(narrowing)) {
        const ids = alone.get(field);
        if (ids && !isReplaced(field, '') && all.every((id) => ids.includes(id)))
          wrong.push(`${field} in ${JSON.stringify(request)}`);
        for (const [other, otherValue] of Object.entries(narrowing)) {
          const both =
            other > field
              ? await found(path, idsOf, withField(withField(request, field, value), other, otherValue))
              : undefined;
          const expected = isReplaced(field, other)
            ? alone.get(other)
            : isReplaced(other, field)
              ? ids
              : ids?.filter((id) => alone.get(other)?.includes(id));
          if (both && JSON.stringify(both) !== JSON.stringify(expected))
            wrong.push(`${field} and ${other} in ${JSON.stringify(request)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** Yields the paths of the fields of a sample. */
function* pathsOf(sample: unknown, at = ''): Generator<string> {
  if (Array.isArray(sample)) return yield* pathsOf(sample[0], `${at}[]`);
  if (typeof sample !== 'object' || sample === null) return;
  for (const [name, value] of Object.entries(sample)) {
    const path = at === '' ? name : `${at}.${name}`;
    if (typeof value !== 'object' || Array.isArray(value)) yield path;
    yield* pathsOf(value, path);
  }
}

const openApi = documentOf(endpoints);

/** Returns the optional documented fields of the endpoints, each with its path. */
const optionalFields = (paths: readonly string[]) =>
  paths.flatMap((path) => {
    const { data } = openApi.paths[path]!.post.requestBody.content['application/json'].schema.properties as any;
    return [...pathsOf(sampleOf(documentedFields[path] ?? ''))]
      .filter((field) => !data.required?.includes(field))
      .map((field) => `${path} ${field}`);
  });

const selectorRows = Object.entries(writeSelectors()).flatMap(([path, { selecting }]) =>
  Object.keys(selecting).map((field) => [path, field] as const),
);

describe('each selector of a write', () => {
  test.each(selectorRows)('%s leaves records for a call without %s', async (path, field) => {
    const writer = await newCustomer();
    await writeSelectors()[path]!.seed(writer);
    const { base, selecting, effect } = writeSelectors()[path]!;
    const [value, beside] = selecting[field]!;
    const request = { ...base, ...beside };
    const seen: object[] = [];
    for (const sent of [withField(request, field, value), request]) {
      const data = await writer.untyped(path, sent);
      seen.push(effect ? await writer.untyped(...effect) : data);
    }
    expect(seen[1]).not.toEqual(seen[0]);
    if (!effect) expect(seen.filter((data) => Object.keys(data).length === 0)).toEqual([]);
  });
});

test('each optional documented field of a read has a row, unless it selects nothing', () => {
  const reads = endpoints.filter(({ kind, twinOf }) => kind === 'read' && twinOf === undefined).map(({ path }) => path);
  const listed = new Set(rows.map(([path, field]) => `${path} ${field}`));
  const missing = optionalFields(reads).filter((field) => !listed.has(field));
  expect(missing.filter((field) => !Object.values(others).some((pattern) => pattern.test(field)))).toEqual([]);
});

test('each optional documented selector of an update or a deletion has a row', () => {
  const writes = Object.keys(documentedFields).filter((path) => /\/(update|delete)$/.test(path));
  const listed = new Set(selectorRows.map(([path, field]) => `${path} ${field}`));
  const selectors = optionalFields(writes).filter((field) =>
    / (documentId|folderId|locationId|targetEntityId|userId|options\.\w+|agent[A-Z]\w+|\w+Ids)$/.test(field),
  );
  expect(selectors.length).toBeGreaterThan(20);
  const isExempt = (field: string) => Object.values(others).some((pattern) => pattern.test(field));
  expect(selectors.filter((field) => !listed.has(field) && !isExempt(field))).toEqual([]);
});
