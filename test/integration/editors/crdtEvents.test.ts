import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import { emitEditorUpdateStep } from '../../../lib/editors/emitEditorUpdate.ts';
import { JobEntity, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { openTable, type Table } from '../../../lib/table/table.ts';
import { sampleEvent } from '../../../lib/events/rules/samples.ts';
import { type Customer, newCustomer, restartFunctions } from '../../support/customer.ts';
import { addDocument, emitted, itemsOf, nda } from '../../support/content.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { type Queues, startQueues } from '../../support/queues.ts';

const [ADD, UPDATE, DELETE] = ['/v2/crdt/add', '/v2/crdt/update', '/v2/crdt/delete'] as const;

let engine: Engine;
let queues: Queues;
let table: Table;
let customer: Customer;
beforeAll(async () => {
  engine = await startEngine();
  queues = await startQueues();
  restartFunctions();
  table = openTable(environment(process.env));
});
afterAll(async () => {
  await queues.stop();
  await engine.stop();
});
beforeEach(async () => {
  customer = await newCustomer();
  await addDocument(customer);
});

const text = { ...nda, editorId: 'summary', type: 'text' };
const replace = (data: string, fields: object = {}) => customer.ok(UPDATE, { ...text, data, ...fields });
/** The jobs that are to tell of editors' changes. */
async function jobs(): Promise<StoredJob[]> {
  const items = await itemsOf(engine, customer, 'Job');
  return items
    .filter(({ kind }) => kind === 'emitEditorUpdate')
    .map((item) => ({ ...JobEntity.fromItem(item, 0)!, tenant: customer.apiKey }));
}
const soon = (job: StoredJob) => () => job.createdAt + 5_000;
/** Does what jobs there are, when their time has come; gives how many there were. */
async function tell(): Promise<number> {
  const due = await jobs();
  for (const job of due) expect(await emitEditorUpdateStep(table, job, soon(job))).toBe('done');
  return due.length;
}
const told = async () =>
  (await emitted(engine, customer)).filter(({ event }) => event === 'crdt.update_data').map(({ data }) => data);
const toldData = async () => (await told()).map(({ crdtData }) => crdtData.data).sort();

describe('design 6: crdt.update_data', () => {
  test('is told once for the changes of 5 s, as the editor is then', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    await replace('two');
    await replace('three', { userId: 'ada', sessionId: 'tab-1' });
    expect(await toldData()).toEqual([]);
    expect(await tell()).toBe(1);
    const [{ lastUpdate }] = await customer.ok('/v2/crdt/get', nda);
    expect(await emitted(engine, customer)).toEqual([
      {
        event: 'crdt.update_data',
        audience: undefined,
        data: {
          actionUser: { userId: 'ada' },
          metadata: {
            apiKey: customer.apiKey,
            organization: { organizationId: 'acme' },
            document: { documentId: 'nda', documentName: 'NDA' },
          },
          crdtData: { id: 'summary', data: 'three', lastUpdatedBy: 'ada', sessionId: 'tab-1', lastUpdate },
        },
      },
    ]);
    expect(await jobs()).toEqual([]);
  });

  test('has the shape of the sample that endpoints/test sends', async () => {
    await customer.ok(ADD, { ...text, data: 'one', userId: 'ada' });
    await tell();
    const [data] = await told();
    const sample: any = sampleEvent('crdt.update_data', customer.apiKey).payload.data;
    expect(Object.keys(data).sort()).toEqual(Object.keys(sample).sort());
    expect(Object.keys(data.crdtData)).toEqual(Object.keys(sample.crdtData));
  });

  test('the message comes 5 s later, once per quiet period, and names the job', async () => {
    queues.clear();
    await customer.ok(ADD, { ...text, data: 'one' });
    await replace('two');
    const [job] = await jobs();
    expect(queues.waiting('jobs').filter(({ body }) => body.tenant === customer.apiKey)).toEqual([
      { body: { tenant: customer.apiKey, jobId: job!.jobId }, delaySeconds: 5 },
    ]);
    expect(job!.dueAt).toBeGreaterThan(job!.createdAt + 5_000);
  });

  test('does not come before its time', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    const [job] = await jobs();
    expect(await emitEditorUpdateStep(table, job!, () => job!.createdAt + 4_999)).toEqual({
      progress: {},
      notBefore: job!.createdAt + 5_000,
    });
    expect(await told()).toEqual([]);
  });

  test('a change after the event begins the next, one that changes nothing none', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    await tell();
    await replace('one');
    expect(await jobs()).toEqual([]);
    await replace('two');
    expect(await tell()).toBe(1);
    await replace('three');
    await replace('four');
    expect(await tell()).toBe(1);
    expect(await toldData()).toEqual(['four', 'one', 'two']);
  });

  test('the event takes a version of its own, which brings clients nothing', async () => {
    await customer.ok(ADD, { ...text, data: 'one', userId: 'ada' });
    const { version } = await customer.ok('/v2/crdt/updates/get', text);
    const [before] = await customer.ok('/v2/crdt/get', nda);
    await tell();
    expect(await customer.ok('/v2/crdt/updates/get', { ...text, version })).toEqual({
      update: 'AAA=',
      version: version + 1,
    });
    expect(await customer.ok('/v2/crdt/get', nda)).toEqual([before]);
  });

  test('one job that is done twice, or by two at the same time, tells once', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    const [job] = await jobs();
    const results = await Promise.allSettled([1, 2, 3].map(() => emitEditorUpdateStep(table, job!, soon(job!))));
    expect(results).toEqual(results.map(() => ({ status: 'fulfilled', value: 'done' })));
    expect(await emitEditorUpdateStep(table, job!, soon(job!))).toBe('done');
    expect(await toldData()).toEqual(['one']);
  });

  test('a change at the same time is in this event or in the next, never in none', async () => {
    await customer.ok(ADD, { ...text, data: '0' });
    for (let round = 1; round <= 15; round++) await Promise.all([tell(), replace(String(round)), replace(`${round}!`)]);
    await tell();
    expect(await jobs()).toEqual([]);
    const [{ data }] = await customer.ok('/v2/crdt/get', nda);
    expect(await toldData()).toContain(data);
  });

  test('what is deleted is not told, nor is it of an editor added again', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    await customer.ok(DELETE, { ...nda, editorIds: ['summary'] });
    await customer.ok(ADD, { ...text, data: 'two' });
    const [first, second] = (await jobs()).sort((a, b) => a.createdAt - b.createdAt);
    expect(await emitEditorUpdateStep(table, first!, soon(first!))).toBe('done');
    expect(await told()).toEqual([]);
    await emitEditorUpdateStep(table, second!, soon(second!));
    expect(await toldData()).toEqual(['two']);
  });

  test('a job that has not told anything for an hour is lost, and a change begins another', async () => {
    await customer.ok(ADD, { ...text, data: 'one' });
    const [item] = await itemsOf(engine, customer, 'EditorUpdate');
    const hourAgo = Date.now() - 3_600_001;
    await table.write([{ put: { ...item, eventJobStartedAt: hourAgo } }]);
    restartFunctions();
    await replace('two');
    expect(await jobs()).toHaveLength(2);
    await replace('three');
    expect(await jobs()).toHaveLength(2);
    for (const job of await jobs()) await emitEditorUpdateStep(table, job, soon(job));
    expect(await toldData()).toEqual(['three']);
  });

  test('data above 128 KB is left out, and so says the event', async () => {
    await customer.ok(ADD, { ...text, data: 'x'.repeat(128 * 1024 - 2), userId: 'ada' });
    await tell();
    await replace('x'.repeat(128 * 1024 - 1));
    await tell();
    const [whole, cut] = (await told()).sort((a) => (a.truncated ? 1 : -1));
    expect([whole.truncated, whole.crdtData.data.length]).toEqual([undefined, 128 * 1024 - 2]);
    expect(cut).toMatchObject({ truncated: true, crdtData: { id: 'summary', lastUpdatedBy: '' } });
    expect(cut.crdtData).not.toHaveProperty('data');
  });

  test("the customer's own fields of organization and document give way to the data", async () => {
    const large = { documentId: 'large', metadata: { note: 'x'.repeat(60_000) } };
    await customer.ok('/v2/organizations/add', {
      organizations: [{ organizationId: 'wide', note: 'x'.repeat(60_000), more: 'x' }],
    });
    await customer.ok('/v2/organizations/documents/add', { organizationId: 'wide', documents: [large] });
    await customer.ok(ADD, {
      organizationId: 'wide',
      documentId: 'large',
      editorId: 'e',
      type: 'text',
      data: '"'.repeat(65_000),
    });
    await tell();
    expect(await told()).toMatchObject([
      {
        metadata: { organization: { organizationId: 'wide' }, document: { documentId: 'large' } },
        crdtData: { data: expect.stringContaining('""') },
      },
    ]);
  });
});
