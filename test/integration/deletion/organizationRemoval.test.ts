import '../../../functions/index.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import { documentPurges } from '../../../lib/deletion/documentPurges.ts';
import { purgeDocumentsStep } from '../../../lib/deletion/purgeDocuments.ts';
import { organizationPurges, purgeOrganizationStep } from '../../../lib/deletion/purgeOrganizations.ts';
import { startPurge } from '../../../lib/deletion/startPurge.ts';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { ContactEntity } from '../../../lib/directory/users.ts';
import type { JobMessage } from '../../../lib/jobs/jobStore.ts';
import { entities, type Entity } from '../../../lib/table/entity.ts';
import { insert, remove, Table } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { fillOrganization } from '../../support/fillOrganization.ts';
import { itemsByKey, itemsOfOrganization, restoreItems } from '../../support/items.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { asDocumentClient, type Command, dyingClient } from '../../support/leanClient.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope, storedOrganizationScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';

const DELETE = '/v2/organizations/delete';
const MINUTE = 60_000;

const { engine, customer } = acmeWorld({ table: 'memory' });
const queues = forAllTests(startQueues);
beforeEach(async () => {
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  queues.clear();
});

const items = () => itemsByKey(engine, customer);
const scopeOf = (organizationId: string) => storedOrganizationScope(customer, { organizationId });
const internalId = async (organizationId: string) => (await scopeOf(organizationId)).organizationKey;
const keyOf = async (documentId: string) =>
  (await storedDocumentScope(customer, { organizationId: 'acme', documentId })).documentKey;
/** Returns all items except jobs. */
const withoutJobs = (all: ReadonlyMap<string, Record<string, any>>) =>
  new Map([...all].filter(([, { _t }]) => _t !== 'Job'));

/**
 * Returns whether an item contains the internal id of a document. Events and jobs do not count, because they expire.
 */
const containsDocument = ({ _t, ...item }: Record<string, any>, document: string) =>
  !['Event', 'EventPayload', 'Job'].includes(_t) && JSON.stringify(item).includes(document);

async function removeDocument(organizationId: string, documentId: string): Promise<JobMessage> {
  const scope = await scopeOf(organizationId);
  const document = (await table.get(DocumentEntity, { ...scope, documentId }))!;
  const { tenant, organizationKey } = scope;
  const documents = [{ internalId: document.internalId, documentId }];
  const { op, jobId } = startPurge(tenant, 'purgeDocuments', { organizationKey, documents }, Date.now());
  expect(await table.write([remove(DocumentEntity, { ...scope, documentId }, document._r), op])).toBe('done');
  return { tenant: customer.apiKey, jobId };
}

/** Returns the job that purges an organization. */
const purgeJobOf = (organizationKey: string, createdAt = 0) => ({
  tenant: customer.apiKey,
  createdAt,
  data: JSON.stringify({ organizationKey }),
});

describe('purge of a deleted organization', () => {
  test('keeps the content of organizations and documents for a minute, in which earlier requests can write', async () => {
    await fillOrganization(customer, 'acme', { each: 1 });
    const acme = await internalId('acme');
    const ofDocument = await removeDocument('acme', 'nda');
    const before = itemsOfOrganization(await items(), acme);
    await customer.ok(DELETE, { organizationIds: ['acme'] });
    const job = [...(await items()).values()].find(({ kind }) => kind === 'purgeOrganization')!;
    const sent = queues.messagesOf('jobs').filter(({ body }) => body.jobId === job.jobId);
    expect(sent).toEqual([{ body: expect.objectContaining({ tenant: customer.apiKey }), delaySeconds: 60 }]);
    for (const message of [ofDocument, sent[0]!.body]) await new JobRunner(Date.now()).run(message);
    expect(itemsOfOrganization(await items(), acme)).toEqual(before);
  });

  test('continues after a crash at any database call, and purges everything', async () => {
    await fillOrganization(customer, 'acme', { documents: ['nda'], each: 1 });
    const acme = await internalId('acme');
    const before = withoutJobs(await items());
    const all = itemsOfOrganization(before, acme);
    const otherItems = new Map([...before].filter(([, item]) => !all.includes(item) && item.internalId !== acme));
    await customer.ok(DELETE, { organizationIds: ['acme'] });
    const job = purgeJobOf(acme, Date.now());
    await killedAtEveryCall((table) => purgeOrganizationStep(table, job, () => job.createdAt + MINUTE), all);
    expect(withoutJobs(await items())).toEqual(otherItems);
  });

  test('sends twelve queries for a document without content', async () => {
    const countQueries = async (organizationId: string, documents: number) => {
      await customer.addDocuments(
        times(documents, (index) => ({ documentId: `document-${index}` })),
        { organizationId },
      );
      let queries = 0;
      const counting = asDocumentClient({
        send(command: Command) {
          if (command.constructor.name === 'QueryCommand') queries += 1;
          return engine.lean.send(command);
        },
      });
      const job = purgeJobOf(await internalId(organizationId));
      expect(await purgeOrganizationStep(new Table(counting, 'table'), job, () => MINUTE)).toBe('done');
      return queries;
    };
    const [few, many] = [await countQueries('few', 2), await countQueries('many', 12)];
    expect((many - few) / 10).toBe(12);
  });

  test('purges documents and users of more than one page', async () => {
    await customer.addDocuments(times(60, (index) => `first-${index}`));
    await customer.addDocuments(times(60, (index) => `second-${index}`));
    const scope = await scopeOf('acme');
    const contact = { ...scope, resource: scope.organizationKey, addedAt: 0 };
    await table.writeAll(times(501, (index) => insert(ContactEntity, { ...contact, userId: `user-${index}` })));
    expect(await purgeOrganizationStep(table, purgeJobOf(scope.organizationKey), () => MINUTE)).toBe('done');
    expect(itemsOfOrganization(await items(), scope.organizationKey)).toEqual([]);
  });

  test('makes progress in each step, even if each query takes longer than a step', async () => {
    await fillOrganization(customer, 'acme', { each: 1 });
    await customer.addDocuments(times(20, (index) => `more-${index}`));
    const acme = await internalId('acme');
    await customer.ok('/v2/organizations/folders/delete', { organizationId: 'acme', folderId: 'contracts' });
    let now = MINUTE;
    const slow = asDocumentClient({
      async send(command: Command) {
        const answer = await engine.lean.send(command);
        if (command.constructor.name === 'QueryCommand') now += 3_000;
        return answer;
      },
    });
    const job = purgeJobOf(acme);
    let steps = 1;
    let before = itemsOfOrganization(await items(), acme).length;
    while ((await purgeOrganizationStep(new Table(slow, 'table'), job, () => now)) !== 'done') {
      const count = itemsOfOrganization(await items(), acme).length;
      expect(count).toBeLessThan(before);
      before = count;
      steps += 1;
    }
    expect(steps).toBeGreaterThan(2);
    expect(itemsOfOrganization(await items(), acme)).toEqual([]);
  });
});

describe('purge of deleted documents', () => {
  /** Returns whether an item names the document in its key or in `documentKey`. */
  const belongsTo =
    (document: string) =>
    ({ _t, PK, SK, documentKey, internalId: id }: Record<string, any>) =>
      documentKey === document || `${PK} ${SK}`.includes(document) || (_t === 'Document' && id === document);

  test('continues after a crash at any database call, and purges everything', async () => {
    await fillOrganization(customer, 'acme', { documents: ['nda'], each: 1 });
    const acme = await internalId('acme');
    const before = withoutJobs(await items());
    const document = await keyOf('nda');
    const all = [...before.values()].filter(belongsTo(document));
    const { jobId } = await removeDocument('acme', 'nda');
    const job = {
      tenant: customer.apiKey,
      jobId,
      createdAt: Date.now(),
      data: JSON.stringify({ organizationKey: acme, documents: [{ internalId: document, documentId: 'nda' }] }),
    };
    const content = all.filter(({ _t }) => _t !== 'Document');
    await killedAtEveryCall((table) => purgeDocumentsStep(table, job, () => job.createdAt + MINUTE), content);
    expect(withoutJobs(await items())).toEqual(new Map([...before].filter(([, item]) => !all.includes(item))));
  });

  test('takes several steps if one step is too short, and passes the unfinished documents on', async () => {
    const documents = times(12, (index) => `doc-${index}`);
    const acme = { organizationId: 'acme' };
    await customer.addDocuments(documents, acme);
    await Promise.all(documents.map((documentId) => customer.addUsers(['ada'], { ...acme, documentId })));
    const removed = [...(await items()).values()]
      .filter(({ _t }) => _t === 'Document')
      .map(({ internalId: id, documentId }) => ({ internalId: id as string, documentId: documentId as string }));
    const job = {
      tenant: customer.apiKey,
      createdAt: 0,
      data: JSON.stringify({ organizationKey: await internalId('acme'), documents: removed }),
    };
    let now = MINUTE;
    const remainingCounts: number[] = [];
    let progress: string | undefined;
    for (;;) {
      const result = await purgeDocumentsStep(table, { ...job, ...(progress && { progress }) }, () => (now += 250));
      if (result === 'done') break;
      progress = JSON.stringify(result.progress);
      remainingCounts.push((result.progress as { left: unknown[] }).left.length);
      // The progress of the job lists the documents that still have items.
      expect([...(await items()).values()].filter(({ _t }) => _t === 'Contact').length).toBeLessThanOrEqual(
        remainingCounts.at(-1)!,
      );
    }
    expect(remainingCounts.length).toBeGreaterThan(0);
    expect(remainingCounts).toEqual(remainingCounts.toSorted((a, b) => b - a));
    expect([...(await items()).values()].filter(({ _t }) => ['Contact', 'Grant'].includes(_t))).toEqual([]);
  });

  test("purges a partly deleted thread with its document before the thread's own job runs", async () => {
    await fillOrganization(customer, 'acme', { documents: ['nda'], each: 1 });
    const all = await items();
    const head = [...all.values()].find(({ _t }) => _t === 'Thread')!;
    const { annotationId, createdAt, first, assignedTo } = head;
    const document = await keyOf('nda');
    const leftover = {
      organizationKey: await internalId('acme'),
      documentKey: document,
      documentId: 'nda',
      thread: { annotationId, createdAt, first, assignedTo },
    };
    await table.write([{ remove: { PK: head.PK, SK: head.SK } }]);
    const runner = new JobRunner(Date.now());
    await runner.finish(await removeDocument('acme', 'nda'));
    await purgeLeftover(table, customer.apiKey, leftover);
    expect([...withoutJobs(await items()).values()].filter((item) => containsDocument(item, document))).toEqual([]);
    expect([...(await items()).values()].filter(({ _t }) => ['RecordId', 'Involvement'].includes(_t))).toEqual([]);
  });
});

describe('entities that a purge covers', () => {
  test('include every entity that is owned by a document, folder or organization', () => {
    const entityTypes = (parts: readonly { readonly entities: readonly { readonly type: string }[] }[]) =>
      new Set(parts.flatMap((part) => part.entities.map(({ type }) => type)));
    const [ofDocuments, ofOrganizations] = [
      entityTypes(documentPurges()),
      entityTypes([...documentPurges(), ...organizationPurges]),
    ];
    const missing = entities().filter(
      ({ type, ownedBy }) =>
        (ownedBy === 'document' && !ofDocuments.has(type)) ||
        ((ownedBy === 'organization' || ownedBy === 'folder') && !ofOrganizations.has(type)),
    );
    expect(missing.map(({ type }) => type)).toEqual([]);
  });

  test('exclude NotificationSettings and User, the only entities that are owned by a user', () => {
    expect(
      entities()
        .filter(({ ownedBy }) => ownedBy === 'user')
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['NotificationSettings', 'User']);
  });
});

/**
 * Makes one trial for each call of the job. A step is killed before that call, or after it if it writes. The next
 * steps then continue. At the end, no item of `all` may be left. The items are restored before the next trial.
 */
async function killedAtEveryCall(
  step: (table: Table) => Promise<unknown>,
  all: readonly Record<string, any>[],
): Promise<void> {
  const keys = all.map(({ PK, SK }) => ({ PK, SK }));
  const remainingKeys = async () =>
    (await table.getByKeys(AnyEntity, keys)).filter((item) => item !== undefined).map(({ PK, SK }) => [PK, SK]);
  const trial = async (callNumber: number, when: 'before' | 'after'): Promise<readonly string[]> => {
    await restoreItems(engine.lean, all);
    const dying = dyingClient(engine.lean, callNumber, when);
    await step(new Table(dying.client, 'table')).catch(() => undefined);
    while ((await step(table)) !== 'done');
    expect([callNumber, when, await remainingKeys()]).toEqual([callNumber, when, []]);
    return dying.calls;
  };
  const calls = await trial(Infinity, 'before');
  expect(calls.length).toBeGreaterThan(20);
  for (const [index, name] of calls.entries()) {
    await trial(index + 1, 'before');
    if (!/^(Query|Get|BatchGet)/.test(name)) await trial(index + 1, 'after');
  }
}

const AnyEntity = { fromItem: (item: Record<string, unknown>) => item } as unknown as Entity<
  Record<string, any>,
  never,
  never
>;
