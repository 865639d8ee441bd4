import { createDecipheriv, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import { upsert } from '../../../lib/table/table.ts';
import { nda } from '../../support/content.ts';
import { addThreads } from '../../support/threads.ts';
import { paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const { customer, hooks, system, createEndpoint, eventsOf, useBasicWebhooks } = webhookWorld();
let tenant: string;
let endpointId: string;

const ada = { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' };
const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' };

beforeEach(async () => {
  tenant = customer.apiKey;
  endpointId = await createEndpoint('/a');
});

/** Fans out the customer's first event of a type. Returns the id of the event. */
async function fanOut(type: string): Promise<string> {
  const [{ eventId }] = (await eventsOf(type)) as [{ eventId: string }];
  await system.fanOut(eventId);
  return eventId;
}

/** Creates a thread with one comment, and fans out its event. Returns the id of the event. */
async function thread(fields: object = {}, from: object = ada): Promise<string> {
  const comment = {
    commentText: 'Too long, @Grace',
    from,
    taggedUserContacts: [{ userId: 'grace', text: '@Grace', contact: grace }],
    triggerNotification: true,
  };
  await addThreads(customer, [{ annotationId: 'clause-4', ...fields, commentData: [comment] }]);
  return fanOut('comment_annotation.add');
}

const update = (updatedData: object) =>
  customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['clause-4'], updatedData });
const bodyAt = (path: string) => JSON.parse(hooks.at(path)[0]!.body);
const status = async (eventId: string) => (await system.delivery(eventId, endpointId))?.status;

describe('the body of a webhook delivery', () => {
  test('contains comment, metadata and notification levels for an event of a thread', async () => {
    await thread();
    await system.drain();
    expect(bodyAt('/a')).toMatchObject({
      event: 'comment_annotation.add',
      actionType: 'add',
      source: 'comment',
      data: {
        actionUser: { userId: 'ada' },
        commentAnnotation: { annotationId: 'clause-4' },
        metadata: { apiKey: tenant, organization: { organizationId: 'acme' }, document: { documentId: 'nda' } },
      },
      usersDocumentNotificationsConfig: { grace: { inbox: 'ALL', email: 'ALL' } },
    });
    expect(bodyAt('/a').data).not.toHaveProperty('visibility');
    expect(JSON.stringify(bodyAt('/a'))).not.toContain('audience');
  });

  test('contains the visibility of a thread that became private', async () => {
    await thread();
    await update({ visibility: { type: 'restricted', userIds: ['grace'] } });
    await system.drain();
    expect(bodyAt('/a').data).toMatchObject({
      visibility: { type: 'restricted', userIds: ['grace'] },
      commentAnnotation: { visibility: { type: 'restricted' } },
    });
  });

  test('contains no visibility of a thread that became public', async () => {
    await thread({ visibility: { type: 'restricted', userIds: ['grace'] } });
    await update({ visibility: { type: 'public' } });
    await system.drain();
    expect(bodyAt('/a').data).not.toHaveProperty('visibility');
  });

  test('is sent only for comment.delete if the thread was deleted', async () => {
    const added = await thread();
    await customer.ok('/v2/commentannotations/delete', {
      ...nda,
      annotationIds: ['clause-4'],
      actionUser: ada,
      triggerNotification: true,
    });
    const deleted = await fanOut('comment.delete');
    await system.drain();
    expect([await status(added), await status(deleted)]).toEqual(['CANCELLED', 'DELIVERED']);
    expect(hooks.received.map(({ headers }) => headers['webhook-id'])).toEqual([deleted]);
  });

  test.each(['organization', 'document'])(
    'is not sent if the %s of the thread was deleted, even if its id exists again',
    async (deleted) => {
      const eventId = await thread();
      const organization = (await system.table.get(OrganizationEntity, { tenant, organizationId: 'acme' }))!;
      if (deleted === 'organization')
        await system.table.write([upsert(OrganizationEntity, { ...organization, tenant, internalId: 'org_other' })]);
      else {
        const key = { tenant, organizationKey: organization.internalId, documentId: 'nda' };
        const document = (await system.table.get(DocumentEntity, key))!;
        await system.table.write([upsert(DocumentEntity, { ...document, ...key, internalId: 'doc_other' })]);
      }
      await system.drain();
      expect(await status(eventId)).toBe('CANCELLED');
      expect(hooks.received).toEqual([]);
    },
  );

  test('contains names and recipients for the processed URL, stored data for the raw URL, and denied users', async () => {
    await useBasicWebhooks({
      rawNotificationUrl: hooks.url('/raw'),
      processedNotificationUrl: hooks.url('/processed'),
    });
    await customer.addUsers([ada, grace]);
    await thread();
    await system.drain();
    expect(bodyAt('/raw')).toMatchObject({
      actionType: 'newlyAdded',
      notificationSource: 'comment',
      commentAnnotation: { annotationId: 'clause-4' },
      metadata: { clientOrganizationId: 'acme', clientDocumentId: 'nda' },
      accessDeniedUsers: [],
    });
    expect(bodyAt('/raw')).not.toHaveProperty('recipients');
    expect(bodyAt('/processed')).toMatchObject({
      recipients: [{ userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }],
    });
  });

  test('names a recipient without a profile as the event does', async () => {
    await useBasicWebhooks({ processedNotificationUrl: hooks.url('/processed') });
    await thread();
    await system.drain();
    expect(bodyAt('/processed').recipients).toEqual([
      { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
    ]);
  });

  test.each([{ visibility: { type: 'restricted' as const, userIds: [] } }, { context: { access: { region: 'eu' } } }])(
    'lists a user who lost access by %j as denied, not as a recipient',
    async (change) => {
      await useBasicWebhooks({ processedNotificationUrl: hooks.url('/processed') });
      await thread();
      await update(change);
      await system.drain();
      expect(bodyAt('/processed')).toMatchObject({
        recipients: [],
        accessDeniedUsers: ['grace'],
        ...('visibility' in change && { visibility: { type: 'restricted' } }),
      });
    },
  );

  test('contains the stored profiles of actor, author and assignee if the call sent only user ids', async () => {
    await useBasicWebhooks({ rawNotificationUrl: hooks.url('/raw') });
    await customer.addUsers([{ ...ada, photoUrl: 'https://example.com/ada.png', plan: 'free' }]);
    await thread({ assignedTo: { userId: 'ada' } }, { userId: 'ada', email: 'countess@example.com' });
    await system.drain();
    const completed = {
      userId: 'ada',
      name: 'Ada Lovelace',
      email: 'countess@example.com',
      photoUrl: 'https://example.com/ada.png',
    };
    const { data } = bodyAt('/a');
    for (const user of [
      data.actionUser,
      data.commentAnnotation.from,
      data.commentAnnotation.comments[0].from,
      data.targetComment.from,
      bodyAt('/raw').actionUser,
    ])
      expect(user).toEqual(completed);
    expect(data.commentAnnotation.assignedTo).toEqual({ ...completed, email: ada.email });
  });

  test('contains the stored profile of the actor of a published event', async () => {
    await customer.addUsers([ada]);
    await customer.ok('/v2/events/publish', {
      organizationId: 'acme',
      event: 'huddle.create',
      actionUser: { userId: 'ada' },
      data: { room: 'blue' },
    });
    await fanOut('huddle.create');
    await system.drain();
    expect(bodyAt('/a').data).toMatchObject({ actionUser: ada, room: 'blue' });
  });

  test('contains no stored profiles if the event has only ids', async () => {
    await customer.addUsers([ada]);
    await customer.ok('/v2/events/publish', {
      organizationId: 'acme',
      event: 'comment.add',
      actionUser: { userId: 'ada' },
      data: { truncated: true },
    });
    await fanOut('comment.add');
    await system.drain();
    expect(bodyAt('/a').data.actionUser).toEqual({ userId: 'ada' });
  });

  test('contains no stored profiles with enableDataProtection', async () => {
    await customer.ok(paths.updateConfig, { enableDataProtection: true });
    await customer.addUsers([ada]);
    await thread({}, { userId: 'ada' });
    await system.drain();
    expect(bodyAt('/a').data).toMatchObject({ actionUser: { userId: 'ada' } });
    expect(hooks.at('/a')[0]!.body).not.toMatch(/Lovelace|ada@example/);
  });

  test('lists a user with the access context of the thread as recipient', async () => {
    await useBasicWebhooks({ processedNotificationUrl: hooks.url('/processed') });
    await thread({ context: { access: { region: 'eu' } } });
    await customer.grant('grace', { type: 'organization', id: 'acme', context: { access: { region: 'eu' } } });
    await system.drain();
    expect(bodyAt('/processed')).toMatchObject({ recipients: [{ userId: 'grace' }], accessDeniedUsers: [] });
  });

  test("can be decrypted only with the customer's private key if it is encrypted", async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await customer.untyped(paths.updateConfig, {
      encryptData: true,
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }),
    });
    await system.publish();
    await system.drain();
    const { encryptedData, encryptedKey, iv } = bodyAt('/a');
    const key = privateDecrypt({ key: privateKey, oaepHash: 'sha256' }, Buffer.from(encryptedKey, 'base64'));
    const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'));
    expect(JSON.parse(decipher.update(encryptedData, 'base64', 'utf8') + decipher.final('utf8'))).toMatchObject({
      event: 'comment.add',
    });
  });

  test('is signed with each of two valid secrets', async () => {
    await customer.ok(paths.rotate, { endpointId });
    await system.publish();
    await system.drain();
    expect(String(hooks.at('/a')[0]!.headers['webhook-signature']).split(' ')).toHaveLength(2);
  });

  test('is not sent for an API key without permission for advanced webhooks', async () => {
    const key = (await system.table.get(ApiKeyEntity, { apiKey: tenant }))!;
    await system.table.write([upsert(ApiKeyEntity, { ...key, withheld: ['advancedWebhooks'] })]);
    const eventId = await system.publish();
    expect(await status(eventId)).toBeUndefined();
  });
});
