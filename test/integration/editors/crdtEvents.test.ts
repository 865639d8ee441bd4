import { beforeAll, describe, expect, test } from '@jest/globals';
import { emitEditorUpdateStep } from '../../../lib/editors/emitEditorUpdate.ts';
import { JobEntity, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import type { Table } from '../../../lib/table/table.ts';
import { sampleEvent } from '../../../lib/webhooks/rules/samples.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { startQueues } from '../../support/queues.ts';

const [ADD, UPDATE, DELETE] = ['/v2/crdt/add', '/v2/crdt/update', '/v2/crdt/delete'] as const;

const { customer, itemsOf, emitted } = acmeWorld({ documents: [{ documentId: 'nda', documentName: 'NDA' }] });
const queues = forAllTests(startQueues);
beforeAll(() => {
  restartFunctions();
});

const text = { ...nda, editorId: 'summary', type: 'text' };
const replace = (data: string, fields: object = {}) => customer.untyped(UPDATE, { ...text, data, ...fields });
/** Returns the stored event jobs of editors. */
async function jobs(): Promise<StoredJob[]> {
  const items = await itemsOf('Job');
  return items
    .filter(({ kind }) => kind === 'emitEditorUpdate')
    .map((item) => ({ ...JobEntity.fromItem(item, 0)!, tenant: customer.apiKey }));
}
const versionJobs = { minute: 60_000, notify: () => Promise.resolve() };
const runStep = (on: Table, job: StoredJob, clock: () => number) =>
  runAsJob(() => emitEditorUpdateStep(on, job, clock, versionJobs));
/** Returns a clock that shows the time at which a job is due. */
const dueClock = (job: StoredJob) => () => job.createdAt + 5_000;
/** Runs each event job at the time at which it is due. Returns the number of jobs. */
async function runJobs(): Promise<number> {
  const due = await jobs();
  for (const job of due) expect(await runStep(table, job, dueClock(job))).toBe('done');
  return due.length;
}
const events = async () =>
  (await emitted()).filter(({ event }) => event === 'crdt.update_data').map(({ data }) => data);
const eventData = async () => (await events()).map(({ crdtData }) => crdtData.data).sort();

describe('the event crdt.update_data', () => {
  test('is emitted once for all changes within 5 s, after 5 s with the last value, and has the fields of the sample', async () => {
    queues.clear();
    await customer.untyped(ADD, { ...text, data: 'one' });
    await replace('two');
    await replace('three', { userId: 'ada', sessionId: 'tab-1' });
    const [job] = await jobs();
    expect(queues.messagesOf('jobs').filter(({ body }) => body.tenant === customer.apiKey)).toEqual([
      { body: { tenant: customer.apiKey, jobId: job!.jobId }, delaySeconds: 5 },
    ]);
    expect(job!.dueAt).toBeGreaterThan(job!.createdAt + 5_000);
    expect(await runStep(table, job!, () => job!.createdAt + 4_999)).toEqual({
      progress: {},
      notBefore: job!.createdAt + 5_000,
    });
    expect(await eventData()).toEqual([]);
    expect(await runJobs()).toBe(1);
    const [{ lastUpdate }] = await customer.ok('/v2/crdt/get', nda);
    const data = {
      actionUser: { userId: 'ada' },
      metadata: {
        apiKey: customer.apiKey,
        organization: { organizationId: 'acme' },
        document: { documentId: 'nda', documentName: 'NDA' },
      },
      crdtData: { id: 'summary', data: 'three', lastUpdatedBy: 'ada', sessionId: 'tab-1', lastUpdate },
    };
    expect(await emitted()).toEqual([{ event: 'crdt.update_data', audience: undefined, data }]);
    expect(await jobs()).toEqual([]);
    const sample: any = sampleEvent('crdt.update_data', customer.apiKey).payload.data;
    expect(new Set(Object.keys(sample))).toEqual(new Set(Object.keys(data)));
    expect(Object.keys(sample.crdtData)).toEqual(Object.keys(data.crdtData));
  });

  test('is emitted again after a later change, but not after a replacement by an equal value', async () => {
    await customer.untyped(ADD, { ...text, data: 'one' });
    await runJobs();
    await replace('one');
    expect(await jobs()).toEqual([]);
    await replace('two');
    expect(await runJobs()).toBe(1);
    await replace('three');
    await replace('four');
    expect(await runJobs()).toBe(1);
    expect(await eventData()).toEqual(['four', 'one', 'two']);
  });

  test('adds a version to the editor that contains no changes for clients', async () => {
    await customer.untyped(ADD, { ...text, data: 'one', userId: 'ada' });
    const { type: _, ...editor } = text;
    const { editorKey, version } = await customer.ok('/v2/crdt/updates/get', editor);
    const [before] = await customer.ok('/v2/crdt/get', nda);
    await runJobs();
    expect(await customer.ok('/v2/crdt/updates/get', { ...editor, version })).toEqual({
      editorKey,
      update: 'AAA=',
      version: Number(version) + 1,
    });
    expect(await customer.ok('/v2/crdt/get', nda)).toEqual([before]);
  });

  test('is emitted once if its job runs twice, also concurrently', async () => {
    await customer.untyped(ADD, { ...text, data: 'one' });
    const [job] = await jobs();
    const results = await Promise.allSettled([1, 2, 3].map(() => runStep(table, job!, dueClock(job!))));
    expect(results).toEqual(results.map(() => ({ status: 'fulfilled', value: 'done' })));
    expect(await runStep(table, job!, dueClock(job!))).toBe('done');
    expect(await eventData()).toEqual(['one']);
  });

  test('includes a concurrent change, or the next event includes that change', async () => {
    await customer.untyped(ADD, { ...text, data: '0' });
    for (let round = 1; round <= 15; round++)
      await Promise.all([runJobs(), replace(String(round)), replace(`${round}!`)]);
    await runJobs();
    expect(await jobs()).toEqual([]);
    const [{ data }] = await customer.ok('/v2/crdt/get', nda);
    expect(await eventData()).toContain(data);
  });

  test('is not emitted for a deleted editor, even if the editor is added again', async () => {
    await customer.untyped(ADD, { ...text, data: 'one' });
    await customer.ok(DELETE, { ...nda, editorIds: ['summary'] });
    await customer.untyped(ADD, { ...text, data: 'two' });
    const [first, second] = (await jobs()).sort((a, b) => a.createdAt - b.createdAt);
    expect(await runStep(table, first!, dueClock(first!))).toBe('done');
    expect(await events()).toEqual([]);
    await runStep(table, second!, dueClock(second!));
    expect(await eventData()).toEqual(['two']);
  });

  test('is emitted by a new job if the first job was lost for an hour', async () => {
    await customer.untyped(ADD, { ...text, data: 'one' });
    const [item] = await itemsOf('EditorUpdate');
    const hourAgo = Date.now() - 3_600_001;
    await table.write([{ put: { ...item, eventJobStartedAt: hourAgo } }]);
    restartFunctions();
    await replace('two');
    expect(await jobs()).toHaveLength(2);
    await replace('three');
    expect(await jobs()).toHaveLength(2);
    for (const job of await jobs()) await runStep(table, job, dueClock(job));
    expect(await eventData()).toEqual(['three']);
  });

  test('omits data larger than 128 KB and sets truncated: true', async () => {
    await customer.untyped(ADD, { ...text, data: 'x'.repeat(128 * 1024 - 2), userId: 'ada' });
    await runJobs();
    await replace('x'.repeat(128 * 1024 - 1));
    await runJobs();
    const [whole, cut] = (await events()).sort((a) => (a.truncated ? 1 : -1));
    expect([whole.truncated, whole.crdtData.data.length]).toEqual([undefined, 128 * 1024 - 2]);
    expect(cut).toMatchObject({ truncated: true, crdtData: { id: 'summary', lastUpdatedBy: '' } });
    expect(cut.crdtData).not.toHaveProperty('data');
  });

  test('omits large custom fields of organization and document before it omits the data', async () => {
    const large = { documentId: 'large', metadata: { note: 'x'.repeat(60_000) } };
    await customer.ok('/v2/organizations/add', {
      organizations: [{ organizationId: 'wide', note: 'x'.repeat(60_000), more: 'x' }],
    });
    await customer.addDocuments([large], { organizationId: 'wide' });
    await customer.ok(ADD, {
      organizationId: 'wide',
      documentId: 'large',
      editorId: 'e',
      type: 'text',
      data: '"'.repeat(65_000),
    });
    await runJobs();
    expect(await events()).toMatchObject([
      {
        metadata: { organization: { organizationId: 'wide' }, document: { documentId: 'large' } },
        crdtData: { data: expect.stringContaining('""') },
      },
    ]);
  });
});
