import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { userHash } from '../../lib/notifications/rules.ts';
import { acmeWorld, forAllTests } from '../support/acmeWorld.ts';
import { nda } from '../support/content.ts';
import { restartFunctions } from '../support/functionHandlers.ts';
import { startQueues } from '../support/queues.ts';
import { newUser, type TestUser } from '../support/userTokens.ts';
import { endpoints } from './cases.ts';
import { exampleOfUser, fieldsOf, pathOf } from './fields.ts';

const open = endpoints.filter(({ user }) => user !== undefined);

/** Returns the paths at which a request can name users: objects with a `userId`, and fields such as `userIds`. */
function namingPaths(endpoint: Endpoint): string[] {
  const naming = fieldsOf(endpoint).filter(({ at, schema }) => {
    const name = at.at(-1);
    const isNamed = typeof name === 'string' && /user.*ids?$/i.test(name) && (name !== 'userId' || at.length === 1);
    return isNamed || 'userId' in (schema.properties ?? {});
  });
  return [...new Set(naming.map(({ at }) => pathOf(at, '*')))];
}

/** Fields that only clients read: the service sends nothing to the users in them, and shows nothing about them. */
const onlyForClients = /(^|\.)progress\.visibleToUserIds$/;

test.each(open.filter(({ kind }) => kind === 'write').map((endpoint) => [endpoint.path, endpoint] as const))(
  '%s has a rule for each field in which a user token can name users',
  (_path, endpoint) => {
    const { actor = [], people = [], refuses = [] } = endpoint.user ?? {};
    const ruled = [...[...actor, ...people].map((field) => field.path), ...refuses];
    const isRuled = (named: string) => ruled.some((rule) => named === rule || named.startsWith(`${rule}.`));
    // The rules see `visibilityConfig` as `visibility`.
    const unruled = namingPaths(endpoint)
      .map((named) => named.replace('visibilityConfig.', 'visibility.'))
      .filter((named) => !isRuled(named) && !onlyForClients.test(named));
    expect(unruled).toEqual([]);
  },
);

const { customer } = acmeWorld({ sdk: true, isShared: true, documents: ['nda'] });
forAllTests(startQueues);
let ada: TestUser;

beforeAll(async () => {
  restartFunctions();
  const [bob, carl] = ['bob', 'carl'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` }));
  await customer.addUsers([bob!, carl!]);
  ada = await newUser(customer, 'ada', [{ type: 'organization', id: 'acme' }]);
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  const comment = { commentText: 'x', from: bob, to: [carl], triggerActivities: true };
  const taggedUserContacts = [{ userId: 'carl', contact: carl }];
  await customer.untyped('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [
      {
        annotationId: 'clause-4',
        assignedTo: carl,
        subscribedUsers: [bob],
        unsubscribedUsers: [carl],
        metadata: { reviewer: carl },
        commentData: [{ ...comment, taggedUserContacts }],
      },
    ],
  });
  await customer.addReactions([
    { annotationId: 'thumbs-up', icon: '👍', from: bob, commentAnnotationId: 'clause-4', commentId: 1 },
  ]);
  await customer.untyped('/v2/notifications/add', {
    ...nda,
    notificationId: 'signature-1',
    displayHeadlineMessageTemplate: '{actionUser}',
    displayHeadlineMessageTemplateData: { actionUser: bob },
    displayBodyMessage: 'x',
    actionUser: bob,
    notifyUsers: [carl, { userId: 'ada', email: 'ada@example.com' }],
  });
  await customer.untyped('/v2/presence/add', { ...nda, users: [bob, carl] });
  await customer.ok('/v2/livestate/broadcast', { ...nda, liveStateDataId: 'people', data: { by: bob } });
  await customer.untyped('/v2/activities/add', {
    ...nda,
    activities: [
      { featureType: 'custom', actionType: 'x', actionUser: bob, targetEntityId: 'x', entityData: { carl } },
    ],
  });
});

const foreignAddress = /(?<!ada)@example\.com/;
const hashOfCarl = userHash('carl@example.com');

describe('an answer to a user token', () => {
  test.each(open.map((endpoint) => [endpoint.path, endpoint] as const))(
    'of %s has no e-mail address of another user',
    async (path, endpoint) => {
      const { userId: _, userIds: __, ...data } = exampleOfUser(endpoint);
      const { body } = await ada.call(path, data);
      expect(JSON.stringify(body)).not.toMatch(foreignAddress);
    },
  );

  test.each([
    'commentannotations/get',
    'commentannotations/comments/get',
    'presence/get',
    'notifications/get',
    'activities/get',
    'livestate/get',
  ])('of %s lacks addresses that the same answer to an API key has', async (name) => {
    const data = { ...nda, ...(name.includes('comments/') && { annotationId: 'clause-4' }) };
    const [toKey, toUser] = await Promise.all([customer.untyped(`/v2/${name}`, data), ada.ok(`/v2/${name}`, data)]);
    expect(JSON.stringify(toKey)).toMatch(foreignAddress);
    expect(JSON.stringify(toUser)).toContain('bob');
    expect(JSON.stringify(toUser)).not.toMatch(foreignAddress);
    expect(JSON.stringify(toUser)).not.toContain(hashOfCarl);
  });
});
