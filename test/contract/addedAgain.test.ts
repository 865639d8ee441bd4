import { describe, expect, test } from '@jest/globals';
import type { JobMessage } from '../../lib/jobs/jobStore.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { startEngine } from '../support/engine.ts';
import { endpoints, examplePaths } from '../support/examples.ts';
import { fillDocument, fillOrganization } from '../support/fillOrganization.ts';
import { JobRunner } from '../support/jobRunner.ts';
import { startQueues } from '../support/queues.ts';
import { withStillClock } from '../support/stillClock.ts';

const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };
const plan = { ...acme, documentId: 'plan' };
const ada = { userId: 'ada', name: 'ada', email: 'ada@example.com' };
const WEBHOOKS = '/v2/workspace/advancedwebhook/endpoints';

type Work = (customer: Customer) => Promise<unknown>;

interface Life {
  /** What exists before the thing is added for the first time. */
  readonly before?: Work;
  readonly add: Work;
  /** What the thing gets in its first life. */
  readonly live: Work;
  /** The `data` of the request that deletes the thing. */
  readonly data: object | ((customer: Customer) => Promise<object>);
  /** Whether parts of the former life show until the jobs of the deletion have run. */
  readonly settlesByJobs?: boolean;
}

const fillPlan: Work = (customer) => fillOrganization(customer, 'acme', { documents: ['plan'] });
const addThread: Work = (customer) =>
  customer.ok('/v2/commentannotations/add', {
    ...plan,
    commentAnnotations: [{ annotationId: 'thread', commentData: [{ commentText: 'new', from: ada }] }],
  });
const react = (reaction: object) => (customer: Customer) =>
  customer.addReactions([{ annotationId: 'own', icon: '+', from: ada, ...reaction }], plan);
const addNotification = (more: object) => (customer: Customer) =>
  customer.untyped('/v2/notifications/add', {
    ...plan,
    notificationId: 'own',
    actionUser: ada,
    notifyUsers: [{ userId: 'bob' }],
    displayHeadlineMessageTemplate: 'new',
    displayBodyMessage: 'new',
    ...more,
  });
const addActivity = (more: object) => (customer: Customer) =>
  customer.untyped('/v2/activities/add', {
    ...plan,
    activities: [
      { id: 'own', featureType: 'custom', actionType: 'sign', actionUser: ada, targetEntityId: 'paper', ...more },
    ],
  });
const resources = [{ type: 'document', id: 'plan', organizationId: 'acme' }];

/** By the path that deletes. */
const lives: Readonly<Record<string, Life>> = {
  '/v2/activities/delete': {
    before: fillPlan,
    add: addActivity({}),
    live: (customer) =>
      customer.ok('/v2/activities/update', {
        ...acme,
        activities: [{ id: 'own', actionIcon: 'https://x.test/i.png' }],
      }),
    data: { ...acme, activityIds: ['own'] },
  },
  '/v2/auth/permissions/remove': {
    before: fillPlan,
    add: (customer) => customer.grant('kim', ...resources),
    live: (customer) =>
      customer.grant('kim', { ...resources[0], accessRole: 'viewer', context: { access: { region: ['eu'] } } }),
    data: { userId: 'kim', permissions: { resources } },
  },
  '/v2/commentannotations/delete': {
    before: fillPlan,
    add: addThread,
    live: async (customer) => {
      const scope = { ...plan, annotationId: 'thread' };
      await customer.ok('/v2/commentannotations/comments/add', {
        ...scope,
        commentData: [
          { commentText: 'old', from: { userId: 'bob' }, taggedUserContacts: [{ userId: 'zoe', text: '@zoe' }] },
        ],
      });
      await react({ annotationId: 'on-own', commentAnnotationId: 'thread', commentId: 1 })(customer);
      await customer.ok('/v2/commentannotations/update', {
        ...plan,
        annotationIds: ['thread'],
        updatedData: { status: 'RESOLVED', assignedTo: { userId: 'eve' }, location: { id: 'here' } },
      });
      await customer.ok('/v2/commentannotations/views/add', { ...plan, annotationIds: ['thread'], userId: 'bob' });
    },
    data: { ...plan, annotationIds: ['thread'] },
  },
  '/v2/crdt/delete': {
    before: fillPlan,
    add: (customer) => customer.ok('/v2/crdt/add', { ...plan, editorId: 'own', type: 'text', data: 'new' }),
    live: async (customer) => {
      await customer.ok('/v2/crdt/versions/add', { ...plan, editorId: 'own', name: 'old' });
      await customer.ok('/v2/crdt/update', { ...plan, editorId: 'own', type: 'text', data: 'old' });
    },
    data: { ...plan, editorIds: ['own'] },
  },
  '/v2/notifications/delete': {
    before: fillPlan,
    add: addNotification({}),
    live: (customer) =>
      customer.ok('/v2/notifications/update', {
        ...acme,
        notifications: [{ id: 'own', readByUserIds: ['bob'], displayBodyMessage: 'old' }],
      }),
    data: { ...acme, notificationIds: ['own'] },
  },
  '/v2/organizations/delete': {
    add: (customer) => customer.addOrganizations(['acme']),
    live: (customer) => fillOrganization(customer, 'acme'),
    data: { organizationIds: ['acme'] },
  },
  '/v2/organizations/documents/delete': {
    before: fillPlan,
    add: (customer) => customer.addDocuments(['nda']),
    live: async (customer) => {
      await fillDocument(customer, nda);
      await customer.grant('eve', { type: 'document', id: 'nda', organizationId: 'acme' });
      await customer.setAccess('restricted', ['nda']);
      await customer.ok('/v2/organizations/documents/move', { ...acme, documentIds: ['nda'], folderId: 'drafts' });
      await customer.ok('/v2/organizations/documents/update', {
        ...acme,
        documents: [{ documentId: 'nda', documentName: 'old', metadata: { old: 1 } }],
      });
      await customer.ok('/v2/organizations/documents/access/disablestate/update', {
        ...acme,
        documentIds: ['nda'],
        disabled: true,
      });
    },
    data: { ...acme, documentIds: ['nda'] },
  },
  '/v2/organizations/folders/delete': {
    before: fillPlan,
    add: (customer) => customer.addFolders(['own']),
    live: async (customer) => {
      await customer.addFolders([{ folderId: 'below', parentFolderId: 'own' }]);
      await customer.addDocuments(['nda'], { folderId: 'own' });
      await customer.addUsers(['bob', 'eve'], { ...acme, folderId: 'own' });
      await customer.ok('/v2/organizations/folders/access/update', {
        ...acme,
        folderIds: ['own'],
        accessType: 'restricted',
      });
      await customer.ok('/v2/organizations/folders/update', {
        ...acme,
        folders: [{ folderId: 'own', folderName: 'old' }],
      });
    },
    data: { ...acme, folderId: 'own' },
  },
  '/v2/presence/delete': {
    before: fillPlan,
    add: (customer) => customer.ok('/v2/presence/add', { ...plan, users: [{ userId: 'bob' }] }),
    live: (customer) =>
      customer.ok('/v2/presence/update', { ...plan, users: [{ userId: 'bob', name: 'old', status: 'away' }] }),
    data: { ...plan, userIds: ['bob'] },
  },
  '/v2/reactions/delete': {
    before: fillPlan,
    add: react({}),
    live: react({ from: { userId: 'bob' } }),
    data: { ...plan, annotationIds: ['own'] },
  },
  '/v2/users/delete': {
    before: fillPlan,
    add: (customer) => customer.addUsers([{ userId: 'kim', name: 'Kim' }], acme),
    live: async (customer) => {
      await customer.addGroup('lawyers', ['kim']);
      await customer.grant('kim', { type: 'organization', id: 'acme', accessRole: 'viewer' }, ...resources, {
        type: 'folder',
        id: 'drafts',
        organizationId: 'acme',
      });
      await customer.addUsers(['kim'], plan);
      await customer.addUsers(['kim'], { ...acme, folderId: 'drafts' });
      await customer.ok('/v2/notifications/config/set', { ...acme, userIds: ['kim'], config: { inbox: 'NONE' } });
    },
    data: { ...acme, userIds: ['kim'] },
    settlesByJobs: true,
  },
  '/v2/workspace/advancedwebhook/endpoints/delete': {
    before: (customer) => customer.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true }),
    add: (customer) => customer.ok(`${WEBHOOKS}/create`, { url: 'https://hooks.example.com', uid: 'own' }),
    live: async (customer) => {
      const {
        endpoints: [{ id }],
      } = await customer.ok(`${WEBHOOKS}/get`, {});
      await customer.ok(`${WEBHOOKS}/update`, { endpointId: id, description: 'old', disabled: true });
    },
    data: async (customer) => ({ endpointId: (await customer.ok(`${WEBHOOKS}/get`, {})).endpoints[0].id }),
  },
};
/** What cannot be added again. */
const withoutRow: Readonly<Record<string, string>> = {
  '/v1/organizations/documents/locations/data/delete': 'deletes what is at a location, not the location',
  '/v1/organizations/usergroups/users/delete': 'a member has nothing but the id',
  '/v2/agents/delete': 'the service gives the id',
  '/v2/agents/groups/delete': 'the service gives the id',
  '/v2/commentannotations/comments/delete': 'the service gives the id',
  '/v2/crdt/versions/delete': 'the service gives the id',
  '/v2/users/data/delete': 'see integration/deletion/erasure.test.ts',
  '/v2/workspace/domains/delete': 'a domain has nothing else',
};
const deleting = examplePaths.filter(
  (path) => /\/(delete|remove)$/.test(path) && endpoints.get(path)!.kind === 'write',
);

const userIds = ['ada', 'bob', 'eve', 'kim', 'zoe'];
const reads: readonly [path: string, data: object][] = [
  ['/v2/organizations/get', {}],
  ['/v2/organizations/folders/get', { ...acme, maxDepth: 5 }],
  ['/v2/organizations/documents/get', acme],
  ['/v2/organizations/usergroups/get', { ...acme, includeUsers: true }],
  ['/v2/users/get', acme],
  ['/v2/users/get', { ...acme, allDocuments: true }],
  ['/v2/users/get', { ...acme, folderId: 'own' }],
  ['/v2/users/doc/get', acme],
  ['/v2/users/invite/get', acme],
  [
    '/v2/auth/permissions/get',
    {
      ...acme,
      userIds,
      documentIds: ['nda', 'plan'],
      folderIds: ['contracts', 'drafts', 'own'],
      skipResourceExistenceValidation: true,
    },
  ],
  ['/v2/commentannotations/get', acme],
  ['/v2/commentannotations/comments/get', { ...plan, annotationId: 'thread' }],
  ['/v2/commentannotations/count/get', { ...acme, documentIds: ['nda', 'plan'], userId: 'bob' }],
  ['/v2/recordings/get', acme],
  ['/v2/activities/get', acme],
  ['/v2/notifications/get', acme],
  ...userIds.flatMap((userId): [string, object][] => [
    ['/v2/users/data/get', { ...acme, userId }],
    ['/v2/notifications/get', { ...acme, userId }],
    ['/v2/notifications/config/get', { ...acme, userId, documentIds: ['nda', 'plan'], getOrganizationConfig: true }],
  ]),
  ...[nda, plan].flatMap((scope): [string, object][] => [
    ['/v2/crdt/get', scope],
    ['/v2/users/get', scope],
    ['/v2/crdt/versions/get', { ...scope, editorId: 'own' }],
    ['/v2/presence/get', scope],
    ['/v2/livestate/get', scope],
    ['/v2/memory/judgments/query', scope],
  ]),
  ['/v2/workspace/domains/get', {}],
  [`${WEBHOOKS}/get`, {}],
];

/** Reads everything that a customer has. Ids of the service, times and tokens count as equal. */
async function readAll(customer: Customer): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [path, data] of reads) {
    const { status, body } = await customer.call(path, data);
    answers[`${path} ${JSON.stringify(data)}`] = [
      status,
      JSON.parse(JSON.stringify(body.result ?? body.error, valueOf)),
    ];
  }
  return answers;
}

function valueOf(key: string, value: unknown): unknown {
  if (['annotationNumber', 'annotationIndex'].includes(key)) return 'number';
  if (typeof value === 'number' && value > 1e9) return 'time';
  if (typeof value !== 'string') return value;
  return value.replace(/[a-z]+_[0-9A-Za-z]{20,}|[0-9a-f]{1000,}/g, 'id').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time');
}

forAllTests(() => startEngine({ table: 'memory' }));
const queues = forAllTests(startQueues);

async function runJobs(): Promise<void> {
  const runner = new JobRunner(Date.now());
  for (const { body } of queues.messagesOf('jobs')) await runner.finish(body as JobMessage);
}

describe('what is deleted and added again', () => {
  test('has a row for every endpoint that deletes', () => {
    expect([...Object.keys(lives), ...Object.keys(withoutRow)].sort()).toEqual([...deleting].sort());
  });

  test.each(Object.entries(lives))('by %s shows nothing of its former life', (path, life) => {
    const { before, add, live, data, settlesByJobs } = life;
    // Each write has a time of its own, and no presence ends.
    return withStillClock(
      async () => {
        const [fresh, again] = [await newCustomer(), await newCustomer()];
        for (const customer of [fresh, again]) {
          await customer.ok('/v2/workspace/activityconfig/update', {
            activityServiceConfig: { isEnabled: true, immutable: false },
          });
          await before?.(customer);
          await add(customer);
        }
        const expected = await readAll(fresh);
        await live(again);
        expect(await readAll(again)).not.toEqual(expected);
        await again.untyped(path, typeof data === 'function' ? await data(again) : data);
        await add(again);
        if (!settlesByJobs) expect(await readAll(again)).toEqual(expected);
        await runJobs();
        expect(await readAll(again)).toEqual(expected);
      },
      Date.now(),
      1,
    );
  });
});
