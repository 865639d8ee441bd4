import { beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../../lib/shared/schema.ts';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';

const threads = '/v2/commentannotations';
const comments = '/v2/commentannotations/comments';
const lease = { organizationId: 'acme', documentId: 'lease' };

const { customer } = acmeWorld({ documents: ['nda'] });
forAllTests(startQueues);
let ada: TestUser;
beforeEach(async () => {
  restartFunctions();
  await customer.addFolders([{ folderId: 'contracts' }]);
  await customer.addFolders([{ folderId: 'drafts', parentFolderId: 'contracts' }]);
  await customer.addDocuments([{ documentId: 'lease' }], { folderId: 'drafts' });
  await customer.addUsers([{ userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }]);
  await newUser(customer, 'foreign');
  ada = await newUser(customer, 'ada', [{ type: 'document', id: 'lease', organizationId: 'acme' }]);
});

const thread = (annotationId: string, fields: object = {}, comment: object = {}) => ({
  annotationId,
  commentData: [{ commentText: 'Too long.', ...comment }],
  ...fields,
});
const start = async (user: TestUser, ...commentAnnotations: object[]) =>
  user.ok(`${threads}/add`, { ...lease, commentAnnotations });
const read = async (annotationId: string) =>
  (await customer.ok(`${threads}/get`, { ...lease, annotationIds: [annotationId] }))[0];

/** Threads that name a user, by the field that names the user. */
const naming = (userId: string): Record<string, object> => ({
  assignedTo: thread('assignedTo', { assignedTo: { userId } }),
  subscribedUsers: thread('subscribedUsers', { subscribedUsers: [{ userId }] }),
  unsubscribedUsers: thread('unsubscribedUsers', { unsubscribedUsers: [{ userId }] }),
  visibility: thread('visibility', { visibility: { type: 'restricted', userIds: [userId] } }),
  to: thread('to', {}, { to: [{ userId }] }),
  tagged: thread('tagged', {}, { taggedUserContacts: [{ userId }] }),
  contact: thread('contact', {}, { taggedUserContacts: [{ contact: { userId } }] }),
});
const refusal = (userId: string) => expect.stringMatching(new RegExp(`must not name users who .*: ${userId}$`));

describe('a user in a new thread of a user token', () => {
  test.each(['unknown', 'foreign'])('who is %s is refused in the item of each field, by name', async (userId) => {
    const named = naming(userId);
    const results = await start(ada, ...Object.values(named), thread('plain'));
    for (const field of Object.keys(named))
      expect(results[field]).toMatchObject({ success: false, message: refusal(userId) });
    expect(results.plain).toMatchObject({ success: true });
    expect(await read('assignedTo')).toBeNull();
  });

  test('who is a member, has a grant on the document or a folder above, or calls, is accepted', async () => {
    await newUser(customer, 'guest');
    await customer.grant('guest', { type: 'document', id: 'lease', organizationId: 'acme' });
    await newUser(customer, 'partner');
    await customer.grant('partner', { type: 'folder', id: 'contracts', organizationId: 'acme' });
    for (const userId of ['grace', 'guest', 'partner', 'ada']) {
      const results = await start(
        ada,
        ...Object.entries(naming(userId)).map(([field, sent]) => ({ ...sent, annotationId: `${field}-${userId}` })),
      );
      expect(Object.values(results).map((result: any) => result.success)).toEqual(
        Object.values(results).map(() => true),
      );
    }
  });

  test('is refused if the membership or the grant was removed', async () => {
    await newUser(customer, 'guest');
    await customer.grant('guest', { type: 'document', id: 'lease', organizationId: 'acme' });
    await customer.ok('/v2/users/delete', { organizationId: 'acme', userIds: ['grace'] });
    await customer.ok('/v2/auth/permissions/remove', {
      userId: 'guest',
      permissions: { resources: [{ type: 'document', id: 'lease', organizationId: 'acme' }] },
    });
    for (const userId of ['guest', 'grace'])
      expect(await start(ada, thread('t', { assignedTo: { userId } }))).toMatchObject({
        t: { success: false, message: refusal(userId) },
      });
  });

  test('has the stored profile, whatever the user token sends about the user', async () => {
    const fake = {
      userId: 'grace',
      name: 'The boss',
      email: 'boss@evil.example',
      photoUrl: 'https://evil.example/p.png',
    };
    const mention = { userId: 'grace', text: '@Grace', contact: fake, name: 'The boss', email: 'boss@evil.example' };
    await start(
      ada,
      thread('t', { assignedTo: fake, subscribedUsers: [fake] }, { to: [fake], taggedUserContacts: [mention] }),
    );
    const stored = await read('t');
    const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' };
    expect(stored.assignedTo).toMatchObject(grace);
    expect(stored.subscribedUsers).toMatchObject([grace]);
    expect(stored.comments[0].to).toMatchObject([grace]);
    expect(stored.comments[0].taggedUserContacts).toMatchObject([{ userId: 'grace', text: '@Grace', contact: grace }]);
    expect(JSON.stringify(stored)).not.toMatch(/boss|evil/);
  });

  test('is one of at most 500 in a call', async () => {
    const userIds = Array.from({ length: limits.list }, (_, number) => `user-${number}`);
    const restricted = (...ids: string[]) => ({
      ...lease,
      commentAnnotations: [
        thread('t', { visibility: { type: 'restricted', userIds } }),
        ...ids.map((userId) => thread('other', { assignedTo: { userId } })),
      ],
    });
    const { status, body } = await ada.call(`${threads}/add`, restricted('one-more'));
    expect([status, body.error?.message]).toEqual([400, expect.stringContaining('more than 500 users')]);
    expect(await ada.status(`${threads}/add`, restricted())).toBe('OK');
  });

  test('can be anybody in a call with an API key, which says everything about the user', async () => {
    const fields = { assignedTo: { userId: 'unknown', name: 'Somebody' } };
    const commentAnnotations = [thread('t', fields, { from: { userId: 'ada' } })];
    await customer.untyped(`${threads}/add`, { ...lease, commentAnnotations });
    expect((await read('t')).assignedTo).toEqual({ userId: 'unknown', name: 'Somebody' });
  });
});

describe('a stranger in a thread', () => {
  const reply = (fields: object) => ({
    ...lease,
    annotationId: 't',
    commentData: [{ commentText: 'x' }, { commentText: 'y', ...fields }],
  });

  test.each(['unknown', 'foreign'])('who is %s makes a reply INVALID_ARGUMENT, with index and name', async (userId) => {
    await start(ada, thread('t'));
    const { status, body } = await ada.call(
      `${comments}/add`,
      reply({ taggedUserContacts: [{ userId: 'grace' }, { userId }] }),
    );
    expect([status, body.error]).toMatchObject([
      400,
      {
        status: 'INVALID_ARGUMENT',
        message: refusal(userId),
        details: { issues: [{ path: ['commentData', 1, 'taggedUserContacts', 1], code: 'unknown_user' }] },
      },
    ]);
    expect((await read('t')).commentCount).toBe(1);
  });

  test('can be named if the user takes part in the thread, and gets the stored profile', async () => {
    await start(ada, thread('t'), thread('other'));
    const from = { userId: 'foreign' };
    await customer.ok(`${comments}/add`, { ...lease, annotationId: 't', commentData: [{ commentText: 'x', from }] });
    expect(await ada.status(`${comments}/add`, reply({ to: [from] }))).toBe('OK');
    const updatedData = { assignedTo: from };
    const results = await ada.ok(`${threads}/update`, { ...lease, annotationIds: ['t', 'other'], updatedData });
    expect(results).toMatchObject({ t: { success: true }, other: { success: false, message: refusal('foreign') } });
    expect((await read('t')).assignedTo).toMatchObject({ userId: 'foreign', name: 'foreign of Acme' });
    expect(await read('other')).not.toHaveProperty('assignedTo');
  });

  test('who takes part only in comments that the user cannot see is refused like an unknown user', async () => {
    await start(ada, thread('t'));
    const hidden = { commentText: 'x', from: { userId: 'foreign' }, context: { access: { region: 'eu' } } };
    await customer.ok(`${comments}/add`, { ...lease, annotationId: 't', commentData: [hidden] });
    const { body } = await ada.call(`${comments}/add`, reply({ to: [{ userId: 'foreign' }] }));
    expect(body.error.message).toEqual(refusal('foreign'));
  });

  test('makes a change of comments fail for each comment, and without ids for the whole call', async () => {
    await start(ada, thread('t'));
    const change = { ...lease, annotationId: 't', updatedData: { to: [{ userId: 'unknown' }] } };
    expect(await ada.ok(`${comments}/update`, { ...change, commentIds: [1] })).toEqual({
      1: { success: false, id: 1, message: refusal('unknown') },
    });
    expect(await ada.status(`${comments}/update`, change)).toBe('INVALID_ARGUMENT');
    expect((await read('t')).comments[0].to).toEqual([]);
  });
});
