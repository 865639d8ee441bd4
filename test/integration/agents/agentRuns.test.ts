import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { JobEntity, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { Table } from '../../../lib/table/table.ts';
import { itemsOf, nda } from '../../support/content.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { JobRunner } from '../../support/removal.ts';
import { addThreads, comment, contentOf, getThread, thread } from '../../support/threads.ts';

const [ADD_COMMENTS, UPDATE_COMMENTS] = [
  '/v2/commentannotations/comments/add',
  '/v2/commentannotations/comments/update',
] as const;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));

let engine: Engine;
let customer: Customer;
let agentId: string;
beforeAll(async () => {
  engine = await startEngine();
  // What fails is counted, which is written to where the tests write.
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
});
afterAll(() => engine.stop());
beforeEach(async () => {
  customer = await newCustomer();
  agentId = await create();
});
afterEach(() => void jest.restoreAllMocks());

const ok = (path: string, data: object) => customer.ok(`/v2/agents/${path}`, data);
const create = async (): Promise<string> => (await ok('create', { name: 'Agent' })).agentId;
const by = (changes: object = {}) => ({
  agentSource: 'svc',
  agentId,
  reason: { title: 't', description: 'd', severity: 'high' },
  ...changes,
});
/** A comment of the agent, of an execution when one is given. */
const found = (executionId?: string, changes: object = {}) => comment({ agent: by({ executionId, ...changes }) });
const finding = (annotationId: string, executionId?: string, changes: object = {}) =>
  thread(annotationId, { commentData: [found(executionId)], ...changes });
const reply = (...commentData: object[]) => customer.call(ADD_COMMENTS, { ...nda, annotationId: 'other', commentData });
/** The count of an agent, as it is shown. */
const shown = async (id = agentId) => {
  const {
    agent: { executionCount, lastExecutedAt },
  } = await ok('get', { agentId: id });
  return [executionCount, lastExecutedAt];
};
const executions = async (id = agentId) => (await shown(id))[0];
const runs = async () => (await itemsOf(engine, customer, 'AgentRun')).map(({ SK }) => SK).sort();
const jobs = async (kind = 'countAgentRuns') =>
  (await itemsOf(engine, customer, 'Job'))
    .filter((job) => job.kind === kind)
    .map((item): StoredJob => ({ ...JobEntity.fromItem(item, 0)!, tenant: customer.apiKey }));
/** Does what jobs there are that count, all at once; gives how many there were. */
async function count(): Promise<number> {
  const due = await jobs();
  await Promise.all(due.map((job) => new JobRunner(job.createdAt).finish(job)));
  expect(await jobs()).toEqual([]);
  return due.length;
}

describe('spec 4.11 rules 1 and 2: executionCount and lastExecutedAt', () => {
  test('are 0 and null before the first execution, then those of the executions that comments told of, wherever the agent is shown', async () => {
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

  test("of a built-in agent are the tenant's own, and change nothing of what the tenant says of it", async () => {
    const other = await newCustomer();
    const row = async (of: Customer) =>
      (await of.ok('/v2/agents/get', { filter: 'defaultOnly' })).agents.find(({ id }: any) => id === 'spell-check');
    await ok('update', { agentId: 'spell-check', enabled: false });
    const byBuiltIn = (executionId: string) => found(executionId, { agentId: 'spell-check' });
    await addThreads(customer, [thread('other', { createdAt: 5, commentData: [byBuiltIn('run-1')] })]);
    await count();
    expect(await row(customer)).toMatchObject({ enabled: false, executionCount: 1, lastExecutedAt: 5 });
    await ok('update', { agentId: 'spell-check', enabled: true });
    expect(await row(customer)).toMatchObject({ enabled: true, executionCount: 1, lastExecutedAt: 5 });
    await reply(byBuiltIn('run-1'), byBuiltIn('run-2'), found('run-1', { agentId: 'crawler' }));
    await count();
    expect([await executions('spell-check'), await executions('crawler'), await executions('screenshot')]).toEqual([
      2, 1, 0,
    ]);
    expect((await ok('get', { agentId: 'crawler' })).agent.enabled).toBe(true);
    expect(await row(other)).toMatchObject({ executionCount: 0, lastExecutedAt: null });
  });

  test('lastExecutedAt is never later than the call that told of it', async () => {
    const before = Date.now();
    await addThreads(customer, [finding('other', 'run-1', { createdAt: before + 1_000_000_000 })]);
    await count();
    const [, at] = await shown();
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  test('come neither from agents of others, nor from comments without an executionId', async () => {
    const external = found('run-1', { agentSource: 'external', agentName: 'Lint' });
    await addThreads(customer, [thread('other', { commentData: [external, found(), comment()] })]);
    expect((await reply(external, found())).status).toBe(200);
    expect([await runs(), await jobs(), await executions()]).toEqual([[], [], 0]);
  });
});

describe('spec 4.11: an execution counts once', () => {
  test('however many comments of however many threads and calls came from it', async () => {
    await addThreads(customer, [
      thread('other', { commentData: [found('run-1'), found('run-1')] }),
      finding('second', 'run-1'),
      finding('third', 'run-2'),
    ]);
    expect((await reply(found('run-1'), found('run-3'), found('run-3'))).status).toBe(200);
    await count();
    expect(await executions()).toBe(3);
    expect((await reply(found('run-1'))).status).toBe(200);
    await addThreads(customer, [finding('fourth', 'run-2')]);
    expect([await count(), await executions(), await runs()]).toEqual([
      0,
      3,
      ['COUNTED#run-1', 'COUNTED#run-2', 'COUNTED#run-3'],
    ]);
  });

  test('where a comment gets its agent later, also if several comments do at once', async () => {
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

  test('in a call of so many threads that it takes many transactions, of which some tell of it at the same time', async () => {
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
    // Several transactions are under way at a time: those that begin later know that one of these has noted both.
    expect([noted, notedAgain]).toEqual([true, 0]);
    await count();
    expect(await executions()).toBe(2);
  });

  test('in calls at the same time, none of which fails', async () => {
    await addThreads(customer, [thread('other')]);
    const answers = await Promise.all(
      times(8, (n) =>
        n % 2 === 0
          ? reply(found('run-1'), found(`run-of-${n}`))
          : customer.call('/v2/commentannotations/add', { ...nda, commentAnnotations: [finding(`t${n}`, 'run-1')] }),
      ),
    );
    expect(
      answers.map(({ status, body }) => [
        status,
        Object.values(body.result.data).every((one: any) => one.success !== false),
      ]),
    ).toEqual(times(8, () => [200, true]));
    await count();
    expect(await executions()).toBe(5);
  });

  test('which another transaction is about to note as well: what DynamoDB turns away for it is written together, a moment later', async () => {
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
    expect((await reply(found('run-2'))).status).toBe(200);
    expect(sizes).toEqual([5, 5]);
    await count();
    expect(await executions()).toBe(2);
  });

  test('that was counted while a call was about to tell of it once more', async () => {
    await addThreads(customer, [thread('other')]);
    await meanwhile(
      (ops) => ops.length > 1,
      async () => {
        await addThreads(customer, [finding('t', 'run-1')]);
        await count();
        expect(await runs()).toEqual(['COUNTED#run-1']);
        // What the call has read does not say so, and the thread is as it was.
      },
    );
    expect((await reply(found('run-1'), found('run-2'))).status).toBe(200);
    expect(await runs()).toEqual(['COUNTED#run-1', 'NEW#run-1', 'NEW#run-2']);
    expect([await count(), await executions(), await runs()]).toEqual([1, 2, ['COUNTED#run-1', 'COUNTED#run-2']]);
  });
});

/** Does something before the first write that meets a condition. */
async function meanwhile(
  isIt: (ops: Parameters<Table['write']>[0]) => boolean,
  work: () => Promise<void>,
): Promise<void> {
  const { write } = Table.prototype;
  let done = false;
  jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
    if (!done && isIt(ops)) {
      done = true;
      await work();
    }
    return write.call(this, ops);
  });
}

/** Lets the n-th write of what follows fail, before it is made or when it is made already. */
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

describe('spec 4.11: when something is cut off', () => {
  test('comments and their execution, with the job that counts it, are written together or not at all', async () => {
    await addThreads(customer, [thread('other')]);
    for (const [add, type] of [
      [
        (n: number) =>
          customer.call('/v2/commentannotations/add', { ...nda, commentAnnotations: [finding(`t${n}`, `run-${n}`)] }),
        'Thread',
      ],
      [(n: number) => reply(found(`reply-${n}`)), 'Comment'],
    ] as const) {
      const written = async () => [
        (await itemsOf(engine, customer, type)).length,
        (await runs()).length,
        (await jobs()).length,
      ];
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

  test('the sweeper finds the job at once: nothing is sent', async () => {
    await addThreads(customer, [finding('other', 'run-1')]);
    const [job] = await jobs();
    expect(job).toMatchObject({ dueAt: job!.createdAt, data: JSON.stringify({ agentId }) });
  });

  test.each(['before', 'after'] as const)(
    'a count that fails %s any of its writes comes to the same when it is done again',
    async (when) => {
      let told = 0;
      for (let at = 1; ; at++) {
        await addThreads(
          customer,
          times(3, (n) => finding(`${at}-${n}`, `run-${told + n}`)),
        );
        told += 3;
        const [job] = await jobs();
        const runner = new JobRunner(job!.createdAt);
        const fault = failAt(at, when);
        await runner.run(job!).catch((error: Error) => expect(error.message).toBe('crash'));
        fault.heal();
        // The lease of the run that ended is over.
        runner.now += 100_000;
        await runner.finish(job!);
        expect([at, await executions()]).toEqual([at, told]);
        if (!fault.struck()) break;
        expect(at).toBeLessThan(10);
      }
      // The lease, the count, the end.
      expect(told).toBe(3 * 4);
    },
  );

  test('more executions than one transaction counts are all counted', async () => {
    await addThreads(
      customer,
      times(95, (n) => finding(`t${n}`, `run-${n}`)),
    );
    await count();
    expect([await executions(), (await runs()).length]).toEqual([95, 95]);
  });
});

describe('the count of an agent that changes', () => {
  test.each([
    [
      'a version',
      () => ok('version/update', { agentId, instructions: 'Look.' }),
      { version: 2, instructions: 'Look.' },
    ],
    ['its name', () => ok('update', { agentId, name: 'New' }), { name: 'New', version: 1 }],
  ])('%s is written although executions are counted meanwhile, and both are there', async (_what, change, expected) => {
    await addThreads(customer, [finding('other', 'run-1')]);
    let counted = 0;
    await meanwhile(
      (ops) => ops.some((op) => 'put' in op && op.put._t === 'Agent'),
      async () => void (counted = await count()),
    );
    await change();
    expect(counted).toBe(1);
    expect((await ok('get', { agentId })).agent).toMatchObject({ ...expected, executionCount: 1 });
  });

  test('meets a change meanwhile, and is right after it', async () => {
    await addThreads(customer, [finding('other', 'run-1')]);
    await meanwhile(
      (ops) => ops.some((op) => 'put' in op && op.put._t === 'Agent'),
      async () => void (await ok('update', { agentId, description: 'New' })),
    );
    await count();
    expect((await ok('get', { agentId })).agent).toMatchObject({ description: 'New', executionCount: 1 });
    await ok('version/update', { agentId, instructions: 'Look.' });
    await ok('versions/restore', { agentId });
    expect(await executions()).toBe(1);
  });

  test('facts B4: ends with the agent: what is counted, what is new, and what waits to be counted', async () => {
    const kept = await create();
    await addThreads(customer, [finding('other', 'run-1')]);
    await count();
    await addThreads(customer, [
      finding('second', 'run-2'),
      thread('third', { commentData: [found('run-1', { agentId: kept })] }),
    ]);
    await ok('delete', { agentId });
    expect(await count()).toBe(2);
    const [removal] = await jobs('removeAgent');
    await new JobRunner(Date.now()).finish(removal!);
    expect([await runs(), await executions(kept)]).toEqual([['COUNTED#run-1'], 1]);
    expect(await getThread(customer, 'second')).toMatchObject({
      comments: [{ agent: { agentId, executionId: 'run-2' } }],
    });
  });
});

describe("facts C8: an agent of the service's own that there is not", () => {
  const unknown = (id: string) => ({ success: false, commentIds: [], message: `Agent ${id} not found.` });

  test('lets its thread fail alone, by its name, and nothing of it is written', async () => {
    const { agentId: foreign } = await (await newCustomer()).ok('/v2/agents/create', { name: 'Theirs' });
    const added = await addThreads(customer, [
      finding('known', 'run-1'),
      thread('unknown', { commentData: [found('run-2'), found('run-2', { agentId: 'nobody' })] }),
      thread('foreign', { commentData: [found('run-3', { agentId: foreign })] }),
      thread('external', {
        commentData: [found('run-4', { agentId: 'nobody', agentSource: 'external', agentName: 'Nobody' })],
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
    ['comments/add', () => reply(comment(), found('run-1', { agentId: 'nobody' }))],
    [
      'comments/update',
      () =>
        customer.call(UPDATE_COMMENTS, {
          ...nda,
          annotationId: 'other',
          updatedData: { agent: by({ agentId: 'nobody', executionId: 'run-1' }) },
        }),
    ],
  ])('is NOT_FOUND that names it in %s, and nothing is written', async (_path, call) => {
    await addThreads(customer, [thread('other')]);
    const { status, body } = await call();
    expect([status, body.error.status, body.error.message]).toEqual([404, 'NOT_FOUND', 'Agent nobody not found.']);
    const {
      comments: [first],
      commentCount,
    } = await getThread(customer, 'other');
    expect([first.agent, commentCount, await runs(), await jobs()]).toEqual([undefined, 1, [], []]);
  });
});

test('as many comments as one transaction holds with their executions are added to a thread; with one more it fails alone', async () => {
  // 100 operations: two for the thread and its id; for each comment one, one for its author and one for its execution; one for the job.
  const of = (number: number) => thread('other', { commentData: times(number, (n) => found(`run-${n}`)) });
  expect((await addThreads(customer, [of(33)])).other).toMatchObject({
    success: false,
    message: expect.stringContaining('too large'),
  });
  expect([await runs(), await jobs()]).toEqual([[], []]);
  expect((await addThreads(customer, [of(32)])).other).toMatchObject({ success: true });
  await count();
  expect(await executions()).toBe(32);
});

test('spec 4.11: an execution counts once, whatever is told, counted and counted once more, in whatever order', async () => {
  const agents = [agentId, await create(), 'spell-check'];
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(2), fc.nat(6)), { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant('count' as const) },
  );
  const told = agents.map(() => new Set<string>());
  let threads = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 5 }), async (steps) => {
      for (const one of steps) {
        if (one === 'count') await count();
        else
          await addThreads(
            customer,
            one.map(([agent, run]) =>
              thread(`t${threads++}`, { commentData: [found(`run-${run}`, { agentId: agents[agent] })] }),
            ),
          );
        for (const [agent, run] of one === 'count' ? [] : one) told[agent]!.add(`run-${run}`);
      }
      await count();
      expect(await Promise.all(agents.map((id) => executions(id)))).toEqual(told.map(({ size }) => size));
    }),
    { numRuns: 8 },
  );
});
