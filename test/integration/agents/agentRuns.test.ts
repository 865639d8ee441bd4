import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { JobEntity, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { agentCalls } from '../../support/agents.ts';
import { beforeWrite, writesItem } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { errorOf } from '../../support/requests.ts';
import { addThreads, comment, contentOf, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const [ADD_COMMENTS, UPDATE_COMMENTS] = [
  '/v2/commentannotations/comments/add',
  '/v2/commentannotations/comments/update',
] as const;

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory' });
let agentId: string;
beforeEach(async () => {
  agentId = await create();
});
afterEach(() => void jest.restoreAllMocks());

const { create, ok } = agentCalls(customer);
const by = (changes: object = {}) => ({
  agentSource: 'svc',
  agentId,
  reason: { title: 't', description: 'd', severity: 'high' },
  ...changes,
});
/** Returns a comment that the agent wrote in an execution. */
const findingComment = (executionId?: string, changes: object = {}) =>
  comment({ agent: by({ executionId, ...changes }) });
const finding = (annotationId: string, executionId?: string, changes: object = {}) =>
  thread(annotationId, { commentData: [findingComment(executionId)], ...changes });
const reply = (...commentData: object[]) => customer.call(ADD_COMMENTS, { ...nda, annotationId: 'other', commentData });
/** Returns the `executionCount` and `lastExecutedAt` of an agent, as agents/get shows them. */
const countOf = async (id = agentId) => {
  const {
    agent: { executionCount, lastExecutedAt },
  } = await ok('get', { agentId: id });
  return [executionCount, lastExecutedAt];
};
const executions = async (id = agentId) => (await countOf(id))[0];
const runs = async () => (await itemsOf('AgentRun')).map(({ SK }) => SK).sort();
const jobs = async (kind = 'countAgentRuns') =>
  (await itemsOf('Job'))
    .filter((job) => job.kind === kind)
    .map((item): StoredJob => ({ ...JobEntity.fromItem(item, 0)!, tenant: customer.apiKey }));
/** Runs all counting jobs in parallel. Returns their number. */
async function count(): Promise<number> {
  const due = await jobs();
  await Promise.all(due.map((job) => new JobRunner(job.createdAt).finish(job)));
  expect(await jobs()).toEqual([]);
  return due.length;
}

describe('executionCount and lastExecutedAt in /v2/agents/get', () => {
  test('count the distinct execution ids in comments, and are 0 and null without any', async () => {
    const groupId = (await ok('groups/create', { name: 'Group', agentIds: [agentId] })).group.id;
    const everywhere = async () => {
      const rows = [
        (await ok('get', { agentId })).agent,
        ...(await ok('get', {})).agents,
        ...(await ok('get', { groupId })).agents,
      ].filter(({ id }) => id === agentId);
      return rows.map(({ executionCount, lastExecutedAt }) => [executionCount, lastExecutedAt]);
    };
    expect(await everywhere()).toEqual(times(3, () => [0, null]));
    await addThreads(customer, [
      finding('first', 'run-1', { createdAt: 5_000 }),
      finding('other', 'run-2', { createdAt: 9_000 }),
    ]);
    expect(await count()).toBe(1);
    expect(await everywhere()).toEqual(times(3, () => [2, 9_000]));
    await addThreads(customer, [finding('older', 'run-3', { createdAt: 7_000 })]);
    await count();
    expect(await everywhere()).toEqual(times(3, () => [3, 9_000]));
  });

  test('count executions of a built-in agent for each tenant, and keep its enabled flag', async () => {
    const other = await newCustomer();
    const row = async (of: Customer) =>
      (await of.ok('/v2/agents/get', { filter: 'defaultOnly' })).agents.find(({ id }: any) => id === 'spell-check');
    await ok('update', { agentId: 'spell-check', enabled: false });
    const byBuiltIn = (executionId: string) => findingComment(executionId, { agentId: 'spell-check' });
    await addThreads(customer, [thread('other', { createdAt: 5, commentData: [byBuiltIn('run-1')] })]);
    await count();
    expect(await row(customer)).toMatchObject({ enabled: false, executionCount: 1, lastExecutedAt: 5 });
    await ok('update', { agentId: 'spell-check', enabled: true });
    expect(await row(customer)).toMatchObject({ enabled: true, executionCount: 1, lastExecutedAt: 5 });
    await reply(byBuiltIn('run-1'), byBuiltIn('run-2'), findingComment('run-1', { agentId: 'crawler' }));
    await count();
    expect([await executions('spell-check'), await executions('crawler'), await executions('screenshot')]).toEqual([
      2, 1, 0,
    ]);
    expect((await ok('get', { agentId: 'crawler' })).agent.enabled).toBe(true);
    expect(await row(other)).toMatchObject({ executionCount: 0, lastExecutedAt: null });
  });

  test('limit lastExecutedAt to the time of the call, even for a later createdAt', async () => {
    const before = Date.now();
    await addThreads(customer, [finding('other', 'run-1', { createdAt: before + 1_000_000_000 })]);
    await count();
    const [, lastExecutedAt] = await countOf();
    expect(lastExecutedAt).toBeGreaterThanOrEqual(before);
    expect(lastExecutedAt).toBeLessThanOrEqual(Date.now());
  });
});

describe('an execution of an agent', () => {
  test('is counted once when updates of several comments name it', async () => {
    await addThreads(customer, [thread('other', { commentData: times(45, () => comment()) })]);
    const update = () =>
      customer.ok(UPDATE_COMMENTS, {
        ...nda,
        annotationId: 'other',
        updatedData: { agent: by({ executionId: 'run-1' }) },
      });
    expect(Object.values(await update()).map(({ success }: any) => success)).toEqual(times(45, () => true));
    await count();
    await update();
    expect([await count(), await executions()]).toEqual([0, 1]);
  });

  test('is counted once when a call that adds 60 threads needs several parallel transactions', async () => {
    const { write } = Table.prototype;
    let noted = false;
    let notedAgain = 0;
    jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
      const notes = ops.some((op) => 'put' in op && op.put._t === 'AgentRun');
      if (notes && noted) notedAgain += 1;
      const outcome = await write.call(this, ops);
      if (notes && outcome === 'done') noted = true;
      return outcome;
    });
    const added = await addThreads(
      customer,
      times(60, (n) => finding(`t${n}`, `run-${n % 2}`)),
    );
    expect(Object.values(added).map(({ success }: any) => success)).toEqual(times(60, () => true));
    expect(await runs()).toEqual(['NEW#run-0', 'NEW#run-1']);
    // An earlier transaction of the call recorded these runs, so its later transactions leave them out.
    expect([noted, notedAgain]).toEqual([true, 0]);
    await count();
    expect(await executions()).toBe(2);
  });

  test('is counted once when parallel calls name it, and all of these calls succeed', async () => {
    await addThreads(customer, ['other']);
    const answers = await Promise.all(
      times(8, (n) =>
        n % 2 === 0
          ? reply(findingComment('run-1'), findingComment(`run-of-${n}`))
          : customer.call('/v2/commentannotations/add', { ...nda, commentAnnotations: [finding(`t${n}`, 'run-1')] }),
      ),
    );
    expect(
      answers.map(({ status, body }) => [
        status,
        Object.values(body.result.data).every((item: any) => item.success !== false),
      ]),
    ).toEqual(times(8, () => [200, true]));
    await count();
    expect(await executions()).toBe(5);
  });

  test('is recorded by a retry of the call if another transaction recorded it first', async () => {
    const { write } = Table.prototype;
    const sizes: number[] = [];
    jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
      const noted = ops.findIndex((op) => 'put' in op && op.put._t === 'AgentRun');
      if (noted >= 0 || sizes.length > 0) sizes.push(ops.length);
      return noted >= 0 && sizes.length === 1 ? { conflicts: [noted] } : write.call(this, ops);
    });
    expect(await addThreads(customer, [finding('other', 'run-1'), finding('second', 'run-1')])).toMatchObject({
      other: { success: true },
      second: { success: true },
    });
    expect(sizes.filter((size) => size > 0)).toEqual([10, 10]);
    sizes.length = 0;
    expect((await reply(findingComment('run-2'))).status).toBe(200);
    expect(sizes).toEqual([5, 5]);
    await count();
    expect(await executions()).toBe(2);
  });

  test('is counted once if a job counts it while another call names it again', async () => {
    await addThreads(customer, ['other']);
    beforeWrite(
      async () => {
        // The call has read its data. Before it writes, only the record of the run changes, not its thread.
        await addThreads(customer, [finding('t', 'run-1')]);
        await count();
        expect(await runs()).toEqual(['COUNTED#run-1']);
      },
      (ops) => ops.length > 1,
    );
    expect((await reply(findingComment('run-1'), findingComment('run-2'))).status).toBe(200);
    expect(await runs()).toEqual(['COUNTED#run-1', 'NEW#run-1', 'NEW#run-2']);
    expect([await count(), await executions(), await runs()]).toEqual([1, 2, ['COUNTED#run-1', 'COUNTED#run-2']]);
  });
});

/** Makes the n-th write of the job fail, before or after it takes effect. */
function failAt(n: number, when: 'before' | 'after'): { struck: () => boolean; heal: () => void } {
  const { write } = Table.prototype;
  let writes = 0;
  const spy = jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
    if (ops.length > 0 && ++writes === n && when === 'before') throw new Error('crash');
    const outcome = await write.call(this, ops);
    if (ops.length > 0 && writes === n && when === 'after') throw new Error('crash');
    return outcome;
  });
  return { struck: () => writes >= n, heal: () => spy.mockRestore() };
}

describe('failures while executions are recorded and counted', () => {
  test('writes comments, the execution and the counting job in one transaction', async () => {
    await addThreads(customer, ['other']);
    for (const [add, type] of [
      [
        (n: number) =>
          customer.call('/v2/commentannotations/add', { ...nda, commentAnnotations: [finding(`t${n}`, `run-${n}`)] }),
        'Thread',
      ],
      [(n: number) => reply(findingComment(`reply-${n}`)), 'Comment'],
    ] as const) {
      const written = async () => [(await itemsOf(type)).length, (await runs()).length, (await jobs()).length];
      const before = await written();
      for (const [n, when] of [
        [1, 'before'],
        [2, 'after'],
      ] as const) {
        const fault = failAt(1, when);
        expect((await add(n)).status).toBe(500);
        fault.heal();
        const more = when === 'after' ? 1 : 0;
        expect(await written()).toEqual(before.map((number) => number + more));
      }
    }
    await count();
    expect(await executions()).toBe(2);
  });

  test('makes the counting job due at once, so that the sweep runs the job without a queue message', async () => {
    await addThreads(customer, [finding('other', 'run-1')]);
    const [job] = await jobs();
    expect(job).toMatchObject({ dueAt: job!.createdAt, data: JSON.stringify({ agentId }) });
  });

  test.each(['before', 'after'] as const)('gives the same count after a crash %s any write', async (when) => {
    let callCount = 0;
    for (let writeNumber = 1; ; writeNumber++) {
      await addThreads(
        customer,
        times(3, (n) => finding(`${writeNumber}-${n}`, `run-${callCount + n}`)),
      );
      callCount += 3;
      const [job] = await jobs();
      const runner = new JobRunner(job!.createdAt);
      const fault = failAt(writeNumber, when);
      await runner.run(job!).catch((error: unknown) => expect(error).toEqual(new Error('crash')));
      fault.heal();
      // The lease of the crashed run expires in this time.
      runner.now += 100_000;
      await runner.finish(job!);
      expect([writeNumber, await executions()]).toEqual([writeNumber, callCount]);
      if (!fault.struck()) break;
      expect(writeNumber).toBeLessThan(10);
    }
    // The job makes three writes: it takes the lease, counts, and ends. One crash for each write and one run without a
    // crash make four rounds.
    expect(callCount).toBe(3 * 4);
  });

  test('counts 95 executions, more than fit into one transaction', async () => {
    await addThreads(
      customer,
      times(95, (n) => finding(`t${n}`, `run-${n}`)),
    );
    await count();
    expect([await executions(), (await runs()).length]).toEqual([95, 95]);
  });
});

describe('the count of executions while its agent changes', () => {
  test.each([
    [
      'its version',
      () => ok('version/update', { agentId, instructions: 'Look.' }),
      { version: 2, instructions: 'Look.' },
    ],
    ['its name', () => ok('update', { agentId, name: 'New' }), { name: 'New', version: 1 }],
  ])('is kept together with a concurrent change of %s', async (_what, change, expected) => {
    await addThreads(customer, [finding('other', 'run-1')]);
    let countedJobs = 0;
    beforeWrite(async () => (countedJobs = await count()), writesItem('Agent'));
    await change();
    expect(countedJobs).toBe(1);
    expect((await ok('get', { agentId })).agent).toMatchObject({ ...expected, executionCount: 1 });
  });

  test('is stored by a retry after a concurrent change of the agent', async () => {
    await addThreads(customer, [finding('other', 'run-1')]);
    beforeWrite(() => ok('update', { agentId, description: 'New' }), writesItem('Agent'));
    await count();
    expect((await ok('get', { agentId })).agent).toMatchObject({ description: 'New', executionCount: 1 });
    await ok('version/update', { agentId, instructions: 'Look.' });
    await ok('versions/restore', { agentId });
    expect(await executions()).toBe(1);
  });

  test('is deleted with the agent, and so are its recorded and pending executions', async () => {
    const otherId = await create();
    await addThreads(customer, [finding('other', 'run-1')]);
    await count();
    await addThreads(customer, [
      finding('second', 'run-2'),
      thread('third', { commentData: [findingComment('run-1', { agentId: otherId })] }),
    ]);
    await ok('delete', { agentId });
    expect(await count()).toBe(2);
    const [removal] = await jobs('purgeAgent');
    await new JobRunner(Date.now()).finish(removal!);
    expect([await runs(), await executions(otherId)]).toEqual([['COUNTED#run-1'], 1]);
    expect(await getThread(customer, 'second')).toMatchObject({
      comments: [{ agent: { agentId, executionId: 'run-2' } }],
    });
  });
});

describe('a comment by an unknown agent', () => {
  const unknown = (id: string) => ({ success: false, commentIds: [], message: `Agent ${id} not found.` });

  test('rejects only its own thread in a call that adds several threads', async () => {
    const { agentId: foreign } = await (await newCustomer()).ok('/v2/agents/create', { name: 'Theirs' });
    const added = await addThreads(customer, [
      finding('known', 'run-1'),
      thread('unknown', { commentData: [findingComment('run-2'), findingComment('run-2', { agentId: 'nobody' })] }),
      thread('foreign', { commentData: [findingComment('run-3', { agentId: foreign })] }),
      thread('external', {
        commentData: [findingComment('run-4', { agentId: 'nobody', agentSource: 'external', agentName: 'Nobody' })],
      }),
    ]);
    expect(added).toMatchObject({
      known: { success: true },
      unknown: unknown('nobody'),
      foreign: unknown(foreign),
      external: { success: true },
    });
    expect([await getThread(customer, 'unknown'), await runs(), (await contentOf(engine, customer)).Thread]).toEqual([
      null,
      ['NEW#run-1'],
      2,
    ]);
  });

  test.each([
    ['comments/add', () => reply(comment(), findingComment('run-1', { agentId: 'nobody' }))],
    [
      'comments/update',
      () =>
        customer.call(UPDATE_COMMENTS, {
          ...nda,
          annotationId: 'other',
          updatedData: { agent: by({ agentId: 'nobody', executionId: 'run-1' }) },
        }),
    ],
  ])('is rejected with NOT_FOUND and the agent id in %s, which writes nothing', async (_path, call) => {
    await addThreads(customer, ['other']);
    expect(errorOf(await call())).toEqual([404, 'NOT_FOUND', 'Agent nobody not found.']);
    const {
      comments: [first],
      commentCount,
    } = await getThread(customer, 'other');
    expect([first.agent, commentCount, await runs(), await jobs()]).toEqual([undefined, 1, [], []]);
  });
});

test('POST /v2/commentannotations/add accepts 32 comments of different executions in a thread and rejects 33', async () => {
  // A transaction has at most 100 operations: 2 for the thread and its id, 1 for the job, and 3 for each comment (the
  // comment, its author and its run).
  const of = (number: number) => thread('other', { commentData: times(number, (n) => findingComment(`run-${n}`)) });
  expect((await addThreads(customer, [of(33)])).other).toMatchObject({
    success: false,
    message: expect.stringContaining('too large'),
  });
  expect([await runs(), await jobs()]).toEqual([[], []]);
  expect((await addThreads(customer, [of(32)])).other).toMatchObject({ success: true });
  await count();
  expect(await executions()).toBe(32);
});

test('each execution is counted once, in any order of added comments and counting jobs', async () => {
  const agents = [agentId, await create(), 'spell-check'];
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(2), fc.nat(6)), { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant('count' as const) },
  );
  const runIds = agents.map(() => new Set<string>());
  let threads = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      for (const step of steps) {
        if (step === 'count') await count();
        else
          await addThreads(
            customer,
            step.map(([agent, run]) =>
              thread(`t${threads++}`, { commentData: [findingComment(`run-${run}`, { agentId: agents[agent] })] }),
            ),
          );
        for (const [agent, run] of step === 'count' ? [] : step) runIds[agent]!.add(`run-${run}`);
      }
      await count();
      expect(await Promise.all(agents.map((id) => executions(id)))).toEqual(runIds.map(({ size }) => size));
    }),
    { numRuns: 8 },
  );
});
