import { describe, expect, test } from '@jest/globals';
import { InvolvementEntity } from '../../../lib/content/involvements.ts';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { readRecordings, recordingDeletionOps, RecordingEntity } from '../../../lib/recordings/recordings.ts';
import { remove } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests, invalid, table } from '../../support/acmeWorld.ts';
import { nda, occurredEvents } from '../../support/content.ts';
import { startFaults } from '../../support/faults.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/recordings/add';
const GET = '/v2/recordings/get';

const { engine, customer } = acmeWorld({ documents: [{ documentId: 'nda', documentName: 'NDA' }, 'tos'] });
const faults = forAllTests(startFaults);

const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
const recording = (fields: object = {}) => ({ recordingType: 'screen', from: ada, ...fields });
const add = (recordings: object[], document: object = nda) => customer.untyped(ADD, { ...document, recordings });
const get = (filter: object = {}) => customer.ok(GET, { organizationId: 'acme', ...filter }) as Promise<any[]>;
const idsOf = async (filter: object = {}) => (await get(filter)).map(({ annotationId }) => annotationId);
const numbers = (count: number) => times(count, (i) => i);
const scope = () => storedDocumentScope(customer, nda);
const events = () => occurredEvents(engine, customer.apiKey);

describe('POST /v2/recordings/add', () => {
  test('returns a result by annotationId and stores recordings as they were sent', async () => {
    const sent = {
      annotationId: 'r',
      recordingType: 'video',
      mode: 'thread',
      from: ada,
      displayName: 'A walk',
      recordedTime: { duration: 61_000, display: '1:01' },
      attachments: [
        { attachmentId: 1, name: 'walk.webm', url: 'https://files.example.com/walk', mimeType: 'video/webm', size: 9 },
      ],
      transcription: { contentSummary: 'a walk', transcriptSegments: [{ text: 'hi' }] },
      location: { id: 'page-3', locationName: 'Page 3' },
      metadata: { room: 1 },
    };
    expect(await customer.result(ADD, { ...nda, recordings: [sent] })).toEqual({
      status: 'success',
      message: 'Recording(s) added successfully.',
      data: { r: { success: true, annotationId: 'r', message: 'Recording added.' } },
    });
    const [recording] = await get();
    expect(recording).toEqual({
      ...sent,
      type: 'recorder',
      locationId: 'page-3',
      latestVersion: 1,
      createdAt: expect.any(Number),
      lastUpdated: recording.createdAt,
      metadata: { room: 1, apiKey: customer.apiKey, ...nda },
    });
  });

  test('generates missing ids and accepts an id such as __proto__', async () => {
    const data = await add([recording(), recording(), recording({ annotationId: '__proto__' })]);
    const [first, second, third] = Object.keys(data);
    expect([first, second, third]).toEqual([
      expect.stringMatching(/^rec_[0-9A-Za-z]{27}$/),
      expect.stringMatching(/^rec_[0-9A-Za-z]{27}$/),
      '__proto__',
    ]);
    expect(await idsOf({ documentId: 'nda' })).toHaveLength(3);
  });

  test('rejects only an existing id, adds a repeated id once, and accepts the id in another document', async () => {
    await add([recording({ annotationId: 'r', displayName: 'first' })]);
    const another = recording({ annotationId: 's' });
    expect(await add([recording({ annotationId: 'r', displayName: 'second' }), another, another])).toEqual({
      r: { success: false, annotationId: 'r', message: 'Recording already exists.' },
      s: { success: true, annotationId: 's', message: 'Recording added.' },
    });
    expect([await idsOf(), (await events()).length]).toEqual([['s', 'r'], 2]);
    expect(
      (await add([recording({ annotationId: 'r' })], { organizationId: 'acme', documentId: 'tos' })).r.success,
    ).toBe(true);
    expect((await get({ documentId: 'nda', recordingIds: ['r'] }))[0].displayName).toBe('first');
  });

  test('adds 500 recordings with one event each', async () => {
    const data = await add(numbers(500).map((i) => recording({ annotationId: `r${i}` })));
    expect(Object.values(data).every(({ success }: any) => success)).toBe(true);
    expect(await idsOf()).toHaveLength(500);
    expect(await events()).toHaveLength(500);
  });

  test('emits recorder.done for each recording', async () => {
    await add([
      recording({
        annotationId: 'r',
        attachments: [{ url: 'https://files.example.com/r.mp4', name: 'r.mp4' }],
        transcription: 'what was said',
        location: { id: 'page-3' },
      }),
    ]);
    const [event, ...others] = await events();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ event: 'recorder.done', ...nda });
    const assets = [{ version: 1, url: 'https://files.example.com/r.mp4', fileName: 'r.mp4', fileFormat: 'mp4' }];
    expect(event!.payload).toEqual({
      source: 'recorder',
      data: {
        actionUser: ada,
        recorderId: 'r',
        from: ada,
        assets,
        assetsAllVersions: assets,
        transcription: 'what was said',
        metadata: {
          apiKey: customer.apiKey,
          organization: { organizationId: 'acme' },
          document: { documentId: 'nda', documentName: 'NDA' },
          locations: [{ id: 'page-3' }],
        },
      },
    });
  });

  test('writes neither recording nor event if the transaction fails', async () => {
    faults.fail('TransactWriteItems', 0);
    expect((await customer.call(ADD, { ...nda, recordings: [recording()] })).status).toBe(503);
    faults.heal();
    expect([await get(), await events()]).toEqual([[], []]);
  });

  test('is completed when repeated with its Idempotency-Key, each recording and event once', async () => {
    const data = { ...nda, recordings: numbers(30).map(() => recording()) };
    const headers = { 'idempotency-key': 'upload-1' };
    faults.fail('TransactWriteItems', 1);
    expect((await customer.call(ADD, data, headers)).status).toBe(503);
    faults.heal();
    const half = await idsOf();
    expect(half.length).toBeGreaterThan(0);
    expect(half.length).toBeLessThan(30);
    const { status, body } = await customer.call(ADD, data, headers);
    expect([status, Object.values(body.result.data).every(({ success }: any) => success)]).toEqual([200, true]);
    expect((await idsOf()).sort()).toEqual(Object.keys(body.result.data).sort());
    expect(await idsOf()).toEqual(expect.arrayContaining(half));
    expect(await events()).toHaveLength(30);
  });

  test('stores the recording as user data of its user and indexes its location', async () => {
    await add([recording({ annotationId: 'r', location: { id: 'page-3' } }), recording({ annotationId: 'elsewhere' })]);
    const documentScope = await scope();
    const involvements = (
      await table.query(
        InvolvementEntity,
        { ...documentScope, userId: 'ada' },
        { prefix: ['DATA', 'recording'], limit: 10 },
      )
    ).values;
    expect(involvements.map(({ id, made }) => [id, made]).sort()).toEqual([
      ['elsewhere', true],
      ['r', true],
    ]);
    expect(
      (await readRecordings(table, documentScope, [...involvements, { ...involvements[0]!, id: 'none' }])).map(
        (recording) => recording?.annotationId,
      ),
    ).toEqual([...involvements.map(({ id }) => id), undefined]);
    const { keys } = await table.queryIndex('gsi2', [customer.apiKey, 'LOCATION', 'nda', 'page-3'], { limit: 10 });
    expect((await table.getByKeys(RecordingEntity, keys)).map((recording) => recording?.annotationId)).toEqual(['r']);
  });

  test('accepts the id of a deleted recording and emits a new event', async () => {
    await add([recording({ annotationId: 'r', location: { id: 'page-3' } })]);
    const documentScope = await scope();
    const { values } = await table.query(RecordingEntity, documentScope, { limit: 10 });
    expect(await table.write(recordingDeletionOps(documentScope, values))).toBe('done');
    expect(
      (await itemsOfTenant(engine, customer.apiKey)).filter(({ _t }) =>
        ['Recording', 'RecordId', 'Involvement'].includes(_t),
      ),
    ).toEqual([]);
    expect((await add([recording({ annotationId: 'r' })])).r.success).toBe(true);
    expect(await events()).toHaveLength(2);
  });

  test('accepts an old id in a document that was deleted and created again', async () => {
    await add([recording({ annotationId: 'r', displayName: 'old' })]);
    const { tenant, organizationKey } = await scope();
    await table.write([remove(DocumentEntity, { tenant, organizationKey, documentId: 'nda' })]);
    expect(await get()).toEqual([]);
    await customer.addDocuments(['nda']);
    for (const filter of [{}, nda, { ...nda, recordingIds: ['r'] }, { recordingIds: ['r'] }])
      expect(await get(filter)).toEqual([]);
    expect((await add([recording({ annotationId: 'r', displayName: 'new' })])).r.success).toBe(true);
    expect((await get({ ...nda, recordingIds: ['r'] })).map(({ displayName }) => displayName)).toEqual(['new']);
  });

  test.each([
    [
      'a transcription that is a number',
      { recordings: [recording({ transcription: 1 })] },
      'recordings[0].transcription must be a text of at most 32 KB or an object of at most 64 KB',
    ],
    [
      'an unknown organization',
      { organizationId: 'none', recordings: [recording()] },
      'organizationId: the organization does not exist',
    ],
  ])('rejects %s with INVALID_ARGUMENT and stores nothing', async (_what, data, message) => {
    expect(await customer.error(ADD, { ...nda, ...data })).toEqual(invalid(message));
    expect(await get()).toEqual([]);
  });

  test('rejects an unknown document with NOT_FOUND', async () => {
    const none = { organizationId: 'acme', documentId: 'none' };
    const missing = [404, 'NOT_FOUND', 'Document does not exist'];
    expect(await customer.error(ADD, { ...none, recordings: [recording()] })).toEqual(missing);
    expect(await customer.error(GET, none)).toEqual(missing);
  });
});

describe('POST /v2/recordings/get', () => {
  test('lists a document newest first and an organization document by document', async () => {
    await add([recording({ annotationId: 'a' }), recording({ annotationId: 'b' })]);
    await add([recording({ annotationId: 'c' })], { organizationId: 'acme', documentId: 'tos' });
    const { body } = await customer.call(GET, nda);
    expect({
      message: body.result.message,
      pageToken: body.result.pageToken,
      ids: body.result.data.map(({ annotationId }: any) => annotationId),
    }).toEqual({ message: 'Recorder annotations retrieved successfully.', pageToken: null, ids: ['b', 'a'] });
    expect((await get()).map(({ annotationId, metadata }) => [annotationId, metadata.documentId])).toEqual([
      ['b', 'nda'],
      ['a', 'nda'],
      ['c', 'tos'],
    ]);
  });

  test('returns recordings by id, in a document in the requested order, or anywhere in an organization', async () => {
    await add([recording({ annotationId: 'a' }), recording({ annotationId: 'b' }), recording({ annotationId: 'x' })]);
    await add([recording({ annotationId: 'b' }), recording({ annotationId: 'c' })], {
      organizationId: 'acme',
      documentId: 'tos',
    });
    expect(await idsOf({ ...nda, recordingIds: ['x', 'none', 'a', 'c', 'x'] })).toEqual(['x', 'a']);
    expect(
      (await get({ recordingIds: ['b', 'c', 'none'] })).map(({ annotationId, metadata }) => [
        annotationId,
        metadata.documentId,
      ]),
    ).toEqual([
      ['b', 'nda'],
      ['c', 'tos'],
      ['b', 'tos'],
    ]);
  });
});
