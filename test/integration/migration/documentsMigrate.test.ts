import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { registeredEndpoints } from '../../../infra/build/registry.ts';
import type { DocumentScope } from '../../../lib/content/documentScope.ts';
import { DocumentReader } from '../../../lib/directory/documents.ts';
import { migrateDocumentStep } from '../../../lib/migration/migrateDocumentStep.ts';
import { readEventLocation } from '../../../lib/notifications/audience.ts';
import { fanOutInApp } from '../../../lib/notifications/inAppFanOut.ts';
import { NotificationWriter } from '../../../lib/notifications/notifications.ts';
import { ReactionEntity } from '../../../lib/reactions/reactions.ts';
import { Table, upsert } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { beforeWrite, writesItem } from '../../support/beforeWrite.ts';
import { occurredEvents } from '../../support/content.ts';
import { fillOrganization } from '../../support/fillOrganization.ts';
import { clearTable, itemsByKey, restoreItems } from '../../support/items.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { asDocumentClient, type Command, dyingClient } from '../../support/leanClient.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const MIGRATE = '/v2/organizations/documents/migrate';
const STATUS = '/v2/organizations/documents/migrate/status';
const [OLD, NEW] = ['agreement', 'agreement-2026'];
const acme = { organizationId: 'acme' };
const both = { ...acme, documentId: OLD, newDocumentId: NEW };

const { engine, customer } = acmeWorld({ table: 'memory' });
const queues = forAllTests(startQueues);
beforeEach(async () => {
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  queues.clear();
});

const fill = () => fillOrganization(customer, 'acme', { documents: [OLD, 'plan'], each: 2 });
const migrate = async (ids: object = both): Promise<string> => (await customer.untyped(MIGRATE, ids)).migrationId;
const statusOf = async (migrationId: string) => (await customer.untyped(STATUS, { ...acme, migrationId })).status;
const messageOf = (jobId: string) => ({ tenant: customer.apiKey, jobId });
const runAll = async (migrationId: string) => new JobRunner(Date.now()).finish(messageOf(migrationId));
const items = async () => [...(await itemsByKey(engine, customer)).values()];

/** Types of items that keep the id of before, or name both ids. */
const keepsOldId = [
  'Event',
  'EventPayload',
  'FirstAttempts',
  'Delivery',
  'Idempotency',
  'Job',
  'Mail',
  'DocumentMigration',
];
/** The new id and the ids of records begin with the old id and a hyphen. */
const namesId = (item: object, id: string) => JSON.stringify(item).replaceAll(`${OLD}-`, '').includes(id);
const typesThatName = async (id: string) =>
  [...new Set((await items()).filter((item) => namesId(item, id)).map(({ _t }) => _t))].sort();

const listings: readonly [path: string, data: object][] = [
  ['/v2/organizations/documents/get', { documentIds: [OLD] }],
  ['/v2/commentannotations/get', { documentId: OLD }],
  ['/v2/commentannotations/get', { documentId: OLD, annotationIds: ['thread-0', 'thread-1', 'unknown'] }],
  ['/v2/commentannotations/get', { documentId: OLD, locationIds: ['here'] }],
  ['/v2/commentannotations/comments/get', { documentId: OLD, annotationId: 'thread-1' }],
  ['/v2/commentannotations/count/get', { documentIds: [OLD], userId: 'bob' }],
  ['/v2/recordings/get', { documentId: OLD }],
  ['/v2/recordings/get', { documentId: OLD, recordingIds: ['recording-1'] }],
  ['/v2/activities/get', { documentId: OLD }],
  ['/v2/activities/get', { activityIds: [`${OLD}-activity-0`] }],
  ['/v2/notifications/get', { documentId: OLD }],
  ['/v2/notifications/get', { userId: 'bob' }],
  ['/v2/notifications/config/get', { documentIds: [OLD], userId: 'zoe' }],
  ['/v2/crdt/get', { documentId: OLD }],
  ['/v2/presence/get', { documentId: OLD }],
  ['/v2/livestate/get', { documentId: OLD }],
  ['/v2/memory/judgments/query', { documentId: OLD }],
  ['/v2/users/get', { documentId: OLD }],
  ['/v2/users/data/get', { userId: 'ada', organizationId: 'acme' }],
  ['/v2/users/invitations/get', { email: 'guest@example.com' }],
  ['/v2/auth/permissions/get', { userIds: ['eve', 'zoe'], documentIds: [OLD] }],
];

/** Reads everything under an id. Positions of records in lists may change, and so may nothing else. */
async function readAll(id: string): Promise<string[]> {
  const answers = [];
  for (const [path, data] of listings) {
    const { body } = await customer.call(
      path,
      JSON.parse(JSON.stringify({ ...acme, ...data }).replaceAll(`"${OLD}"`, `"${id}"`)),
    );
    answers.push(`${path} ${JSON.stringify(body.result ?? body.error)}`);
  }
  return answers;
}

describe('documents/migrate', () => {
  test('gives the new id to the records of every kind, and frees the old one', async () => {
    await fill();
    await customer.ok('/v2/users/invite/add', {
      ...acme,
      email: 'guest@example.com',
      type: 'doc_user',
      documentId: OLD,
    });
    const before = (await readAll(OLD)).map((answer) => answer.replaceAll(`"${OLD}"`, `"${NEW}"`));
    const numbers = await customer.ok('/v2/organizations/documents/count/get', acme);
    const migrationId = await migrate();
    expect(await statusOf(migrationId)).toBe('pending');
    expect(await customer.ok('/v2/organizations/documents/count/get', acme)).toEqual(numbers);
    await runAll(migrationId);
    expect(await statusOf(migrationId)).toBe('completed');
    expect(await readAll(NEW)).toEqual(before);
    expect((await typesThatName(OLD)).filter((type) => !keepsOldId.includes(type))).toEqual([]);
    expect(await customer.error('/v2/commentannotations/get', { ...acme, documentId: OLD })).toEqual([
      404,
      'NOT_FOUND',
      'Document does not exist',
    ]);

    await customer.addDocuments([OLD]);
    const annotations = [{ annotationId: 'thread-0', commentData: [{ commentText: 'new', from: { userId: 'new' } }] }];
    await customer.ok('/v2/commentannotations/add', { ...acme, documentId: OLD, commentAnnotations: annotations });
    expect(await readAll(NEW)).toEqual(before);
  });

  test('refuses changes of both ids and reads of the new one while it runs, and reads the old one', async () => {
    await fill();
    const before = await readAll(OLD);
    const migrationId = await migrate();
    const runner = new JobRunner(Date.now());
    const normal = (answers: string[]) => answers.map((answer) => answer.replaceAll(`"${NEW}"`, `"${OLD}"`));
    expect(await readAll(OLD)).toEqual(before);
    await runner.run(messageOf(migrationId));
    expect(normal(await readAll(OLD))).toEqual(before);

    const problems: unknown[] = [];
    for (const { path, kind, auth, errors, example } of registeredEndpoints()) {
      if (auth !== 'apiKey' || path === MIGRATE) continue;
      for (const id of [OLD, NEW]) {
        if (kind === 'read' && id === OLD) continue;
        for (const data of namingDocument(path, example.data as Record<string, any>, id)) {
          const { body } = await customer.call(path, data);
          const { status, details } = body.error ?? {};
          if (status !== 'FAILED_PRECONDITION' || details?.migrationId !== migrationId || details.documentId !== id)
            problems.push([path, data, body.error ?? body.result]);
          if (!errors.includes('FAILED_PRECONDITION')) problems.push([path, 'does not declare the error']);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test.each([
    [
      'the same id twice',
      { ...both, newDocumentId: OLD },
      400,
      'INVALID_ARGUMENT',
      'newDocumentId must differ from documentId',
    ],
    ['an unknown document', { ...both, documentId: 'unknown' }, 404, 'NOT_FOUND', 'Document does not exist'],
    [
      'a new id of another document',
      { ...both, newDocumentId: 'plan' },
      409,
      'ALREADY_EXISTS',
      'A document with the new id exists already',
    ],
  ])('refuses %s', async (_what, ids, ...expected) => {
    await customer.addDocuments([OLD, 'plan']);
    expect(await customer.error(MIGRATE, ids)).toEqual(expected);
  });

  test('returns the running migration to the same call, and refuses any other from or to its ids', async () => {
    await customer.addDocuments([OLD, 'plan']);
    const migrationId = await migrate();
    expect(await migrate()).toBe(migrationId);
    for (const ids of [
      { ...both, newDocumentId: 'other' },
      { ...acme, documentId: NEW, newDocumentId: 'other' },
      { ...acme, documentId: 'plan', newDocumentId: NEW },
    ]) {
      const { body } = await customer.call(MIGRATE, ids);
      expect(body.error).toMatchObject({ status: 'FAILED_PRECONDITION', details: { migrationId } });
    }
    expect(await customer.error(STATUS, { ...acme, migrationId: 'mig_unknown' })).toEqual([
      404,
      'NOT_FOUND',
      'Migration does not exist',
    ]);
  });

  test.each([
    ['by both ids', {}],
    ['by both ids, beside documentIds', { documentIds: [OLD, 'plan'] }],
  ])('leaves its judgments out of a memory search that excludes it %s', async (_how, ids) => {
    await fill();
    await new JobRunner(Date.now()).run(messageOf(await migrate()));
    for (const excluded of [OLD, NEW]) {
      const filters = { excludeDocumentIds: [excluded] };
      const { results } = await customer.result('/v2/memory/search', { ...acme, ...ids, recencyDays: 1, filters });
      const found = new Set(results.map(({ documentId }: { documentId?: string }) => documentId));
      expect([excluded, found.has('plan'), found.has(OLD), found.has(NEW)]).toEqual([excluded, true, false, false]);
    }
  });

  test.each<[path: string, data: object]>([
    ['/v2/notifications/delete', { userId: 'bob' }],
    ['/v2/notifications/update', { notifications: [{ id: `${OLD}-notification-0`, displayBodyMessage: 'x' }] }],
    ['/v2/activities/delete', { activityIds: [`${OLD}-activity-0`] }],
    ['/v2/activities/update', { activities: [{ id: `${OLD}-activity-0`, actionIcon: 'x' }] }],
  ])('fails its items of %s without its id, and says why', async (path, data) => {
    await fill();
    await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { immutable: false } });
    const results = async () => Object.entries<any>(await customer.untyped(path, { ...acme, ...data }));
    const migrationId = await migrate();
    for (const _pass of ['before the first pass', 'after it']) {
      const failed = (await results()).filter(([id, { success }]) => id.startsWith(OLD) && !success);
      expect(failed.length).toBeGreaterThan(0);
      for (const [, { message }] of failed) expect(message).toBe('The document is being migrated to another id');
      await new JobRunner(Date.now()).run(messageOf(migrationId));
    }
  });

  describe('a start during a call for 60 documents', () => {
    const documentIds = times(60, (i) => `d${i}`);
    const named = documentIds.map((documentId) => ({ documentId, documentName: 'x' }));
    const DELETE = '/v2/organizations/documents/delete';
    beforeEach(() => customer.addDocuments(documentIds));

    test.each([
      [DELETE, { documentIds }, 'Job'],
      ['/v2/organizations/documents/update', { documents: named }, 'Document'],
      ['/v2/organizations/documents/access/update', { documentIds, accessType: 'restricted' }, 'Document'],
      ['/v2/organizations/documents/access/disablestate/update', { documentIds, disabled: true }, 'Document'],
    ])('fails only its item of %s, and refuses the next call', async (path, data, type) => {
      beforeWrite(() => migrate({ ...acme, documentId: 'd0', newDocumentId: NEW }), writesItem(type));
      const results = Object.entries<any>(await customer.untyped(path, { ...acme, ...data }));
      expect(results.filter(([, { success }]) => !success)).toMatchObject([
        ['d0', { message: 'The document is being migrated to another id' }],
      ]);
      expect(results).toHaveLength(60);
      expect((await customer.error(path, { ...acme, ...data })).slice(0, 2)).toEqual([400, 'FAILED_PRECONDITION']);
    });

    test('sends a message for each stored purge job if a later read fails', async () => {
      beforeWrite(async () => {
        await migrate({ ...acme, documentId: 'd0', newDocumentId: NEW });
        jest.spyOn(DocumentReader.prototype, 'getByIds').mockRejectedValueOnce(new Error('broken'));
      }, writesItem('Job'));
      expect((await customer.call(DELETE, { ...acme, documentIds })).status).toBe(500);
      const stored = (await items())
        .filter(({ _t, kind }) => _t === 'Job' && kind === 'purgeDocuments')
        .map(({ jobId }) => jobId);
      expect(stored).not.toEqual([]);
      expect(queues.messagesOf('jobs').map(({ body }) => body.jobId)).toEqual(expect.arrayContaining(stored));
    });
  });

  test('renames what a request from before its start writes in the first minute', async () => {
    await fill();
    const scope = await storedDocumentScope(customer, { ...acme, documentId: OLD });
    const migrationId = await migrate();
    const runner = new JobRunner(Date.now());
    const message = messageOf(migrationId);
    await runner.run(message);
    const [reaction] = (await table.query(ReactionEntity, scope, { limit: 1 })).values;
    expect(reaction!.documentId).toBe(NEW);
    await table.write([upsert(ReactionEntity, { ...scope, ...reaction!, annotationId: 'late', documentId: OLD })]);
    await runner.finish(message);
    expect(await statusOf(migrationId)).toBe('completed');
    const { values } = await table.query(ReactionEntity, scope, { limit: 10 });
    expect(new Set(values.map(({ documentId }) => documentId))).toEqual(new Set([NEW]));
  });

  test.each([
    ['by itself', () => undefined],
    ['with the same call', migrate],
  ])('fails after five failures in a row, and continues %s', async (_how, continued) => {
    await fill();
    const migrationId = await migrate();
    const message = messageOf(migrationId);
    const failing = new JobRunner(Date.now(), {
      steps: { migrateDocument: (job, clock) => migrateDocumentStep(failingTable(), job, clock) },
    });
    for (let tries = 1; tries <= 5; tries++) {
      await failing.run(message).catch(() => undefined);
      failing.now += 24 * 60 * 60_000;
    }
    expect(await statusOf(migrationId)).toBe('failed');
    expect((await customer.call('/v2/reactions/delete', { ...acme, documentId: OLD, reactions: [] })).status).toBe(400);
    expect((await continued()) ?? migrationId).toBe(migrationId);
    await new JobRunner(failing.now).finish(message);
    expect(await statusOf(migrationId)).toBe('completed');
  });

  describe('of a document that is deleted with its folder after the first pass', () => {
    const inDrafts = { ...acme, folderId: 'drafts' };
    const finishPurge = async () => {
      const [purge] = (await items()).filter(({ _t, kind }) => _t === 'Job' && kind === 'changeFolders');
      const message = messageOf(purge!.jobId);
      const runner = new JobRunner(Date.now());
      await runner.finish(message);
      runner.now += 61_000;
      await runner.finish(message);
    };
    const finishMigration = () => new JobRunner(Date.now() + 61_000).finish(messageOf(migrationId));
    let scope: DocumentScope;
    let migrationId: string;
    beforeEach(async () => {
      await fillOrganization(customer, 'acme', { documents: [OLD], each: 2 });
      await customer.ok('/v2/organizations/folders/add', { ...acme, folders: [{ folderId: 'drafts' }] });
      await customer.ok('/v2/organizations/documents/move', { ...inDrafts, documentIds: [OLD] });
      scope = await storedDocumentScope(customer, { ...acme, documentId: OLD });
      migrationId = await migrate();
      await new JobRunner(Date.now()).run(messageOf(migrationId));
      await customer.ok('/v2/organizations/folders/delete', inDrafts);
    });

    test.each([
      ['before', finishMigration, finishPurge],
      ['after', finishPurge, finishMigration],
    ])('fails %s the purge, frees the new id, and purges records of either id', async (_when, first, second) => {
      await first();
      await second();
      expect(await statusOf(migrationId)).toBe('failed');
      expect((await typesThatName(scope.documentKey)).filter((type) => !keepsOldId.includes(type))).toEqual([]);
      await customer.addDocuments([OLD, NEW]);
      const documents = (await items()).filter(({ _t }) => _t === 'Document');
      expect(documents.map(({ documentId }) => documentId).sort()).toEqual([OLD, NEW]);
    });

    test('leaves a new document under the new id alone', async () => {
      await customer.addDocuments([NEW]);
      const added = await storedDocumentScope(customer, { ...acme, documentId: NEW });
      await finishMigration();
      await finishPurge();
      expect(await statusOf(migrationId)).toBe('failed');
      expect(await storedDocumentScope(customer, { ...acme, documentId: NEW })).toEqual(added);
    });
  });

  test('waits while users are being removed from a folder, which reads the ids of its documents', async () => {
    await fill();
    await customer.ok('/v2/organizations/folders/add', { ...acme, folders: [{ folderId: 'drafts' }] });
    await customer.ok('/v2/organizations/documents/move', { ...acme, folderId: 'drafts', documentIds: [OLD] });
    const migrationId = await migrate();
    await customer.ok('/v2/users/delete', { ...acme, folderId: 'drafts', userIds: ['ada'] });
    const removal = (await items()).find(({ _t, kind }) => _t === 'Job' && kind === 'removeUsers');
    const runner = new JobRunner(Date.now());
    const message = messageOf(migrationId);
    for (let runs = 0; runs < 5; runs++) {
      await runner.run(message);
      runner.now += 30_000;
    }
    expect(await statusOf(migrationId)).toBe('in_progress');
    await runner.finish(messageOf(removal!.jobId));
    await runner.finish(message);
    expect(await statusOf(migrationId)).toBe('completed');
  });

  test('loses nothing and writes nothing twice if it crashes at any call of the table', async () => {
    await fillOrganization(customer, 'acme', { documents: [OLD], each: 1 });
    const migrationId = await migrate();
    const before = await items();
    const { tenant, data, createdAt } = {
      tenant: customer.apiKey,
      ...before.find(({ jobId }) => jobId === migrationId)!,
    } as any;
    const job = (progress?: object) =>
      ({
        tenant,
        jobId: migrationId,
        kind: 'migrateDocument',
        data,
        createdAt,
        dueAt: 0,
        shard: 0,
        _r: 1,
        ...(progress && { progress: JSON.stringify(progress) }),
      }) as const;
    const clock = () => (createdAt as number) + 61_000;
    const finish = async () => {
      for (let progress: object | undefined; ;) {
        const result = await migrateDocumentStep(table, job(progress), clock);
        if (result === 'done') return;
        progress = result.progress;
      }
    };
    const trial = async (callNumber: number, when: 'before' | 'after') => {
      await clearTable(engine);
      await restoreItems(engine.lean, before);
      const dying = dyingClient(engine.lean, callNumber, when);
      let progress: object | undefined;
      for (let steps = 0; steps < 3; steps++) {
        const result = await migrateDocumentStep(new Table(dying.client, 'table'), job(progress), clock).catch(
          () => 'done' as const,
        );
        if (result === 'done') break;
        progress = result.progress;
      }
      await finish();
      return dying.calls.length;
    };
    const content = async () =>
      (await items())
        .filter(({ _t }) => _t !== 'Job')
        .map(({ _r, _w, ...item }) => item)
        .sort((a, b) => (`${a.PK} ${a.SK}` < `${b.PK} ${b.SK}` ? -1 : 1));
    const count = await trial(Infinity, 'before');
    const expected = await content();
    expect(count).toBeGreaterThan(20);
    for (let callNumber = 1; callNumber <= count; callNumber++)
      for (const when of ['before', 'after'] as const) {
        await trial(callNumber, when);
        expect([callNumber, when, await content()]).toEqual([callNumber, when, expected]);
      }
  });

  test('keeps the grants of users and of their tokens, which do not open a new document under the old id', async () => {
    await customer.addDocuments([OLD]);
    await customer.setAccess('restricted', [OLD]);
    const user = await newUser(customer, 'guest', [
      { type: 'document', id: OLD, organizationId: 'acme', accessRole: 'editor' },
    ]);
    const read = async (documentId: string) =>
      (await user.call('/v2/commentannotations/get', { ...acme, documentId })).status;
    expect(await read(OLD)).toBe(200);
    await runAll(await migrate());
    await customer.addDocuments([{ documentId: OLD, accessType: 'restricted' }]);
    expect([await read(NEW), await read(OLD)]).toEqual([200, 403]);
  });

  test('still sends the event of a thread from before', async () => {
    await customer.addDocuments([OLD]);
    await customer.ok('/v2/workspace/webhookconfig/update', {
      useWebhookService: true,
      webhookServiceConfig: { rawNotificationUrl: 'https://hooks.example.com/raw' },
    });
    await customer.ok('/v2/commentannotations/add', {
      ...acme,
      documentId: OLD,
      commentAnnotations: [
        {
          annotationId: 'a',
          commentData: [
            {
              commentText: 'x',
              from: { userId: 'ada' },
              taggedUserContacts: [{ userId: 'bob' }],
              triggerNotification: true,
            },
          ],
        },
      ],
    });
    const [event] = await occurredEvents(engine, customer.apiKey);
    await runAll(await migrate());
    await customer.addDocuments([OLD]);
    expect(await readEventLocation(table, event!)).toMatchObject({ document: { documentId: NEW } });
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await fanOutInApp({ table, clock: Date.now, notifications: new NotificationWriter(table) })().consume(event!);
    expect(await customer.ok('/v2/notifications/get', { ...acme, documentId: NEW })).toMatchObject([
      { notificationSourceData: { annotationId: 'a' }, metadata: { documentId: NEW } },
    ]);
  });
});

/** A table of which each transaction fails. */
function failingTable(): Table {
  return new Table(
    asDocumentClient({
      send(command: Command) {
        if (command.constructor.name === 'TransactWriteCommand') throw new Error('broken');
        return engine.lean.send(command);
      },
    }),
    'table',
  );
}

const resourceOf = (id: string) => [{ type: 'document', id, organizationId: 'acme', accessRole: 'viewer' }];

/** For endpoints whose example names no document at its top level. */
const naming: Readonly<Record<string, (id: string) => object | object[]>> = {
  '/v2/commentannotations/get': (id) => [{ documentIds: [id] }, { documentIds: [id], annotationIds: ['thread-0'] }],
  '/v2/organizations/documents/update': (id) => ({ documents: [{ documentId: id, documentName: 'x' }] }),
  '/v2/auth/generate_token': (id) => ({
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: resourceOf(id) },
  }),
  '/v2/auth/permissions/add': (id) => ({ user: { userId: 'ada' }, permissions: { resources: resourceOf(id) } }),
  '/v2/notifications/get': (documentId) => ({ ...acme, documentId }),
  '/v2/notifications/delete': (documentId) => ({ ...acme, documentId }),
  '/v2/notifications/update': (documentId) => ({
    ...acme,
    documentId,
    notifications: [{ id: 'n', displayBodyMessage: '' }],
  }),
  '/v2/users/add': (documentId) => ({ ...acme, documentId, users: [{ userId: 'ada' }] }),
  '/v2/users/update': (documentId) => ({ ...acme, documentId, users: [{ userId: 'ada' }] }),
  '/v2/users/get': (documentId) => ({ ...acme, documentId }),
  '/v2/users/count/get': (id) => ({ ...acme, documentIds: [id] }),
  '/v2/memory/judgments/query': (id) => ({ ...acme, documentIds: [id] }),
  '/v2/memory/search': (id) => ({ ...acme, documentIds: [id], recencyDays: 3 }),
};

/** Requests of an endpoint that name a document of `acme`: its example, and one of `naming`. */
function namingDocument(path: string, data: Record<string, any>, id: string): object[] {
  const others = [naming[path]?.(id) ?? []].flat();
  const named = others.map((other) => ({ ...('organizationId' in data && acme), ...other }));
  return [exampleNaming(data, id) ?? [], named].flat();
}

function exampleNaming(data: Record<string, any>, id: string): object | undefined {
  const named = {
    ...data,
    ...('organizationId' in data && { organizationId: 'acme' }),
    ...('authToken' in data && { apiKey: customer.apiKey, authToken: customer.authToken }),
  };
  if (typeof data.documentId === 'string') return { ...named, documentId: id };
  if (Array.isArray(data.documentIds)) return { ...named, documentIds: [id] };
  return undefined;
}
