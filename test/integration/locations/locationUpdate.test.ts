import { beforeEach, describe, expect, test } from '@jest/globals';
import { LocationUpdater } from '../../../lib/locations/locationUpdater.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { beforeWrite, writesItem } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { addRecords, recording } from '../../support/locationRecords.ts';
import { errorOf } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { getThread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const UPDATE = '/v1/organizations/documents/locations/update';
const DELETE = '/v1/organizations/documents/locations/data/delete';
const oldLocation = { id: 'chapter-1', locationName: 'Chapter 1', page: 3 };
const newLocation = { id: 'chapter-2', locationName: 'Chapter 2' };

const { engine, customer } = acmeWorld({ table: 'memory' });
beforeEach(() => addDocuments(customer));

async function addDocuments(to: Customer) {
  for (const organizationId of ['acme', 'beta']) await to.addDocuments(['nda', 'offer'], { organizationId });
}

const credentials = ({ apiKey, authToken }: Customer) => ({ apiKey, authToken });
const update = (more: object = {}) =>
  withStillClock(() =>
    customer.call(UPDATE, {
      ...credentials(customer),
      documentId: 'nda',
      migrate: { oldLocation: { id: 'chapter-1' }, newLocation },
      ...more,
    }),
  );

const addAt = (location: object = oldLocation, scope?: object, suffix?: string) =>
  addRecords(customer, location, scope, suffix);

/** Returns all stored records that have a location of their own. */
async function records(of = customer) {
  return (await itemsOfTenant(engine, of.apiKey)).filter(({ locationKey }) => locationKey !== undefined);
}

/** Returns the location of each record by its id. */
async function locations(): Promise<Record<string, [key: string, location: object]>> {
  return Object.fromEntries(
    (await records()).map(({ annotationId, id, location, locationKey }) => [
      annotationId ?? id,
      [locationKey, JSON.parse(location)] as [string, object],
    ]),
  );
}
const recordsAt = (key: string, location: object, suffix = '') =>
  Object.fromEntries(['t', 'own', 'rec', 'n'].map((id) => [id + suffix, [key, location]]));

describe('POST /v1/organizations/documents/locations/update', () => {
  test('replaces the location of threads, reactions, recordings and notifications, and returns null', async () => {
    await addAt();
    const { status, body } = await update();
    expect([status, body]).toEqual([200, { result: { status: 'success', message: 'Location updated.', data: null } }]);
    expect(await locations()).toEqual(recordsAt('chapter-2', newLocation));
  });

  test('merges the fields into the stored location with merge', async () => {
    await addAt();
    const migrate = { oldLocation: { id: 'chapter-1' }, newLocation: { locationName: 'One', color: 'red' } };
    expect((await update({ merge: true, migrate })).status).toBe(200);
    expect(await locations()).toEqual(
      recordsAt('chapter-1', { id: 'chapter-1', locationName: 'One', page: 3, color: 'red' }),
    );
  });

  test('makes get endpoints find content by the new location and no longer by the old one', async () => {
    await addAt();
    await update();
    const idsAt = async (locationId: string) => {
      const threads = await customer.ok('/v2/commentannotations/get', { ...nda, locationIds: [locationId] });
      const notifications = await customer.ok('/v2/notifications/get', { ...nda, locationId });
      return [...threads, ...notifications].map(({ annotationId, id, location }) => [annotationId ?? id, location]);
    };
    expect([await idsAt('chapter-1'), await idsAt('chapter-2')]).toEqual([
      [],
      [
        ['t', newLocation],
        ['n', newLocation],
      ],
    ]);
    // A deletion of a location finds its records through the index. So this checks the index.
    const remove = (id: string) =>
      customer.call(DELETE, { ...credentials(customer), documentId: 'nda', location: { id } });
    await remove('chapter-1');
    expect(Object.keys(await locations())).toHaveLength(4);
    await remove('chapter-2');
    expect(await locations()).toEqual({});
  });

  test('changes lastUpdated of a thread, and keeps its comments and creation time', async () => {
    await addAt();
    const before = await getThread(customer, 't');
    await update();
    const after = await getThread(customer, 't');
    expect(after).toEqual({
      ...before,
      location: newLocation,
      locationId: 'chapter-2',
      lastUpdated: expect.any(Number),
    });
    expect(after.lastUpdated).toBeGreaterThan(before.lastUpdated);
  });

  test('finds a location without an id or a name by its other fields', async () => {
    await addAt({ version: { id: 'v1', name: 'First' }, page: 1 });
    await update({ migrate: { oldLocation: { page: 1, version: { name: 'First', id: 'v1' } }, newLocation } });
    expect(await locations()).toEqual(recordsAt('chapter-2', newLocation));
  });

  test('keeps records of other locations, documents and tenants', async () => {
    const other = await newCustomer();
    await addDocuments(other);
    await addRecords(other, oldLocation);
    await addAt({ id: 'chapter-10' }, {}, '-10');
    await addAt(oldLocation, { documentId: 'offer' }, '-offer');
    const before = [await records(), await records(other)];
    expect((await update()).status).toBe(200);
    expect([await records(), await records(other)]).toEqual(before);
  });

  test('changes records in all organizations with the document, or only in the given organization', async () => {
    await addAt();
    await addAt(oldLocation, { organizationId: 'beta' }, '-beta');
    await update({ organizationId: 'beta' });
    expect(await locations()).toEqual({
      ...recordsAt('chapter-1', oldLocation),
      ...recordsAt('chapter-2', newLocation, '-beta'),
    });
    await addAt(oldLocation, { organizationId: 'beta' }, '-more');
    await update();
    expect(await locations()).toEqual({
      ...recordsAt('chapter-2', newLocation),
      ...recordsAt('chapter-2', newLocation, '-beta'),
      ...recordsAt('chapter-2', newLocation, '-more'),
    });
  });

  test('changes nothing if the request is repeated, or if the location or document is unknown', async () => {
    await addAt();
    for (const merge of [false, true]) {
      const migrate = { oldLocation: { id: 'chapter-1' }, newLocation: { id: 'chapter-1', page: 4 } };
      await update({ migrate, merge });
      const before = await records();
      expect((await update({ migrate, merge })).status).toBe(200);
      expect((await update({ migrate: { ...migrate, oldLocation: { id: 'nowhere' } }, merge })).status).toBe(200);
      expect((await update({ documentId: 'nowhere', migrate, merge })).status).toBe(200);
      expect(await records()).toEqual(before);
    }
  });

  test('changes all records if they exceed one index page', async () => {
    for (let i = 0; i < 150; i += 50) {
      await customer.addRecordings(times(50, (j) => recording(`rec${i + j}`, oldLocation)));
    }
    // The first location has the same id, so the index key stays. The second location has another id, so the index key
    // changes.
    for (const location of [{ ...oldLocation, page: 4 }, newLocation]) {
      expect((await update({ migrate: { oldLocation, newLocation: location } })).status).toBe(200);
      expect(Object.values(await locations())).toEqual(times(150, () => [location.id, location]));
    }
  });

  test('returns UNAVAILABLE at its deadline, and the next call continues', async () => {
    await customer.addRecordings(times(30, (i) => recording(`rec${i}`, oldLocation)));
    const calls = { left: 20 };
    const clock = () => (calls.left-- > 0 ? 0 : 60_000);
    const updater = new LocationUpdater(table, clock);
    await expect(
      updater.update(customer.apiKey, { documentId: 'nda', oldLocation, newLocation, merge: false }),
    ).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      message: 'Not everything is updated yet. Send the request again.',
    });
    const changed = async () => Object.values(await locations()).filter(([key]) => key === 'chapter-2').length;
    expect(await changed()).toBeGreaterThan(0);
    expect(await changed()).toBeLessThan(30);
    expect((await update()).status).toBe(200);
    expect(await changed()).toBe(30);
  });

  test.each([
    ['the changes that another request writes', { priority: { id: 'P0' } }, ['chapter-2', newLocation]],
    [
      'the place to which another request moves a record',
      { location: { id: 'elsewhere' } },
      ['elsewhere', { id: 'elsewhere' }],
    ],
  ])('keeps %s between its read and its write', async (_what, updatedData, location) => {
    await addAt();
    beforeWrite(
      () => customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['t'], updatedData }),
      writesItem('Thread'),
    );
    const migration = { documentId: 'nda', oldLocation, newLocation, merge: false };
    await new LocationUpdater(table).update(customer.apiKey, migration);
    expect((await locations()).t).toEqual(location);
    expect(await getThread(customer, 't')).toMatchObject(updatedData);
  });

  test('rejects credentials in the body that differ from the headers with PERMISSION_DENIED', async () => {
    await addAt();
    const before = await records();
    expect(errorOf(await update(credentials(await newCustomer())))).toEqual([
      403,
      'PERMISSION_DENIED',
      'Invalid API key.',
    ]);
    expect(await records()).toEqual(before);
  });

  test('refuses to merge fields into a location that would become too large', async () => {
    await addAt({ id: 'chapter-1', text: 'x'.repeat(40_000) });
    const migrate = { oldLocation, newLocation: { id: 'chapter-1', more: 'x'.repeat(40_000) } };
    expect(errorOf(await update({ merge: true, migrate }))).toEqual(
      invalid('migrate.newLocation makes a location or its content too large'),
    );
  });

  test.each([
    [
      'migrate.oldLocation must have an id, a locationName or another key',
      { migrate: { oldLocation: {}, newLocation } },
    ],
    ['organizationId: the organization does not exist', { organizationId: 'nowhere' }],
  ])('rejects a request with INVALID_ARGUMENT: %s', async (message, more) => {
    expect(errorOf(await update(more))).toEqual(invalid(expect.stringContaining(message)));
  });
});
