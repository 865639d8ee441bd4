import { beforeEach, describe, expect, test } from '@jest/globals';
import { LocationDeleter } from '../../../lib/deletion/deleteLocationData.ts';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { newCustomer } from '../../support/customer.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { deleteItem, itemsOfTenant } from '../../support/items.ts';
import { asDocumentClient } from '../../support/leanClient.ts';
import { addRecords, recording } from '../../support/locationRecords.ts';
import { errorOf, post } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads, comment, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { newWorkspace } from '../../support/workspaces.ts';

const DELETE = '/v1/organizations/documents/locations/data/delete';

const { engine, customer } = acmeWorld({ table: 'memory' });
beforeEach(async () => {
  for (const organizationId of ['acme', 'beta']) await customer.addDocuments(['nda', 'offer'], { organizationId });
});

const chapter = { id: 'chapter-1', locationName: 'Chapter 1' };
const ada = { userId: 'ada' };

const client = () => asDocumentClient(engine.lean);

const credentialsOf = ({ apiKey, authToken }: { readonly apiKey: string; readonly authToken: string }) => ({
  apiKey,
  authToken,
});
const addAt = (location: object, scope?: object, suffix?: string) => addRecords(customer, location, scope, suffix);
const remove = (location: object, more: object = {}) =>
  withStillClock(() => customer.call(DELETE, { ...credentialsOf(customer), documentId: 'nda', location, ...more }));

/** Returns the ids of all records that Ada and Grace have in an organization. */
async function recordIds(organizationId = 'acme') {
  const userData = await Promise.all(
    ['ada', 'grace'].map((userId) => customer.ok('/v2/users/data/get', { organizationId, userId })),
  );
  const ids = userData.flatMap(({ comments, reactions, recordings, notifications }) =>
    [...comments, ...reactions, ...recordings, ...notifications].map(({ annotationId, id }: any) => annotationId ?? id),
  );
  return [...new Set(ids)].sort();
}
const contentItems = async () =>
  (await itemsOfTenant(engine, customer.apiKey)).filter(({ _t }) =>
    ['Thread', 'Comment', 'Reaction', 'Recording', 'Notification', 'RecordId', 'Involvement', 'Job'].includes(_t),
  );

describe('POST /v1/organizations/documents/locations/data/delete', () => {
  test('deletes threads, reactions, recordings and notifications of the location and returns null', async () => {
    await addAt(chapter);
    expect(await recordIds()).toEqual(['n', 'on', 'own', 'rec', 't']);
    const { status, body } = await remove(chapter);
    expect([status, body]).toEqual([
      200,
      { result: { status: 'success', message: 'Data deleted successfully.', data: null } },
    ]);
    expect(await recordIds()).toEqual([]);
    expect(await contentItems()).toEqual([]);
  });

  test('keeps records of other locations and documents', async () => {
    await addAt(chapter, {}, '-1');
    await addAt({ id: 'chapter-10' }, {}, '-10');
    await addAt(chapter, { documentId: 'offer' }, '-offer');
    const others = ['-10', '-offer']
      .flatMap((suffix) => ['n', 'on', 'own', 'rec', 't'].map((id) => id + suffix))
      .sort();
    expect((await remove(chapter)).status).toBe(200);
    expect(await recordIds()).toEqual(others);
  });

  test('finds a location without an id or a name by its other fields', async () => {
    await addAt({ version: { id: 'v1', name: 'First' } });
    await remove({ version: { name: 'First', id: 'v1' } });
    expect(await recordIds()).toEqual([]);
  });

  test('deletes records in every organization with the document, but not of other tenants', async () => {
    const other = await newCustomer();
    await other.addDocuments(['nda']);
    await other.addRecordings([recording('rec', chapter)]);
    await addAt(chapter);
    await addAt(chapter, { organizationId: 'beta' });
    await remove(chapter);
    expect([await recordIds('acme'), await recordIds('beta')]).toEqual([[], []]);
    expect((await other.ok('/v2/users/data/get', { organizationId: 'acme', userId: 'ada' })).recordings).toHaveLength(
      1,
    );
  });

  test('keeps a thread that was moved to another location', async () => {
    await addAt(chapter);
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['t'],
      updatedData: { location: { id: 'elsewhere' } },
    });
    await remove(chapter);
    expect(await recordIds()).toEqual(['on', 't']);
    await remove({ id: 'elsewhere' });
    expect(await contentItems()).toEqual([]);
  });

  test('keeps records that another request moves to another location during the deletion', async () => {
    await addAt(chapter);
    const migrate = { oldLocation: chapter, newLocation: { id: 'elsewhere' } };
    beforeWrite(() =>
      customer.ok('/v1/organizations/documents/locations/update', { ...nda, ...credentialsOf(customer), migrate }),
    );
    expect((await remove(chapter)).status).toBe(200);
    expect(await recordIds()).toEqual(['n', 'on', 'own', 'rec', 't']);
  });

  test('removes a reaction with the location from a comment without the location', async () => {
    await addThreads(customer, ['t']);
    const on = { icon: 'heart', from: ada, commentAnnotationId: 't', commentId: 1 };
    await customer.addReactions([
      { annotationId: 'here', ...on, location: chapter },
      { annotationId: 'too', ...on, location: chapter },
      { annotationId: 'there', ...on },
    ]);
    await remove(chapter);
    const { comments, reactions } = await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId: 'ada' });
    expect(comments).toMatchObject([{ reactionAnnotationIds: ['there'] }]);
    expect(reactions).toMatchObject([{ annotationId: 'there' }]);
  });

  test('succeeds for an unknown location or document, and when the request is repeated', async () => {
    await addAt(chapter);
    for (const more of [{}, {}, { documentId: 'nowhere' }, { location: { id: 'nowhere' } }])
      expect((await remove(chapter, more)).status).toBe(200);
    expect(await recordIds()).toEqual([]);
  });

  test('deletes hundreds of records and long threads while others are added', async () => {
    for (let i = 0; i < 250; i += 50) {
      await customer.addRecordings(times(50, (j) => recording(`rec${i + j}`, chapter)));
    }
    const commentData = times(30, () => comment());
    await addThreads(
      customer,
      times(5, (i) => thread(`t${i}`, { location: chapter, commentData })),
    );
    const [{ status }] = await Promise.all([remove(chapter), customer.addRecordings([recording('late')])]);
    expect(status).toBe(200);
    expect(await recordIds()).toEqual(['late']);
  });

  test('deletes a record that another request changes at the same time', async () => {
    await addAt(chapter);
    await customer.addRecordings(times(130, (i) => recording(`rec${i}`, chapter)));
    class Contended extends Table {
      conflicts = 2;
      override async write(ops: Parameters<Table['write']>[0]) {
        return this.conflicts-- > 0 ? { conflicts: [0] } : super.write(ops);
      }
    }
    await new LocationDeleter(new Contended(client(), TABLE_NAME)).delete(customer.apiKey, 'nda', chapter, () => 0);
    expect(await contentItems()).toEqual([]);
  });

  test('keeps a record that the index still lists under its old location, and deletes the others', async () => {
    await addAt(chapter);
    await addThreads(customer, ['moved']);
    const { PK, SK } = (await contentItems()).find(
      ({ _t, annotationId }) => _t === 'Thread' && annotationId === 'moved',
    ) as { PK: string; SK: string };
    class Lagging extends Table {
      override async queryIndex(
        index: Parameters<Table['queryIndex']>[0],
        partition: readonly string[],
        options: Parameters<Table['queryIndex']>[2],
      ) {
        if (partition.includes('LOCATION') && options.after === undefined)
          return {
            keys: [
              { PK, SK },
              { PK, SK: `${SK}-gone` },
            ],
            sortKeys: [],
            positions: ['', 'behind'],
            next: 'behind',
          };
        return super.queryIndex(index, partition, { ...options, after: undefined });
      }
    }
    await new LocationDeleter(new Lagging(client(), TABLE_NAME)).delete(customer.apiKey, 'nda', chapter, () => 0);
    expect(await recordIds()).toEqual(['moved']);
  });

  test('keeps the records of a new document if a deleted document has leftovers with the same ids', async () => {
    await addAt(chapter);
    const scope = await storedOrganizationScope(customer);
    await deleteItem(engine, DocumentEntity.key({ ...scope, documentId: 'nda' }));
    await customer.addDocuments(['nda']);
    await addAt({ id: 'elsewhere' });
    expect((await remove(chapter)).status).toBe(200);
    expect(await customer.ok('/v2/notifications/get', { organizationId: 'acme', notificationIds: ['n'] })).toHaveLength(
      1,
    );
    expect(await getThread(customer, 't')).toMatchObject({ annotationId: 't' });
  });

  test('returns UNAVAILABLE at its deadline, and the next call continues', async () => {
    await customer.addRecordings(times(150, (i) => recording(`rec${i}`, chapter)));
    const calls = { left: 8 };
    // The clock shows the same time for the first calls. After them, the deadline is over.
    const clock = () => (calls.left-- > 0 ? 0 : 60_000);
    const deleter = new LocationDeleter(table);
    await expect(deleter.delete(customer.apiKey, 'nda', chapter, clock)).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      message: 'Not everything is deleted yet. Send the request again.',
    });
    const remainingCount = (await recordIds()).length;
    expect(remainingCount).toBeGreaterThan(0);
    expect(remainingCount).toBeLessThan(150);
    expect((await remove(chapter)).status).toBe(200);
    expect(await recordIds()).toEqual([]);
  });
});

describe('POST /v1/organizations/documents/locations/data/delete: credentials in the body', () => {
  const denied = { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } };

  test('rejects credentials that differ from the headers with PERMISSION_DENIED', async () => {
    await addAt(chapter);
    const other = await newCustomer();
    for (const wrong of [
      { apiKey: other.apiKey },
      { authToken: other.authToken },
      credentialsOf(other),
      { apiKey: '' },
      { authToken: `${customer.authToken}x` },
      { authToken: 'x'.repeat(10_000) },
    ]) {
      const { status, body } = await remove(chapter, wrong);
      expect([status, body]).toEqual([403, denied]);
    }
    const data = { ...credentialsOf(customer), documentId: 'nda', location: chapter };
    expect((await other.call(DELETE, data)).body).toEqual(denied);
    expect(await recordIds()).toHaveLength(5);
  });

  test('rejects a request with credentials in the body only', async () => {
    const workspace = await newWorkspace();
    const { status, body } = await post(
      handlerOf(DELETE),
      {},
      { ...credentialsOf(workspace), documentId: 'nda', location: chapter },
    );
    expect([status, body]).toEqual([403, denied]);
  });

  test('rejects an empty location with INVALID_ARGUMENT', async () => {
    expect(errorOf(await remove({}))).toEqual(invalid('location must have an id, a locationName or another key'));
  });
});
