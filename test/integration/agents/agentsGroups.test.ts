import { describe, expect, jest, test } from '@jest/globals';
import { AgentGroupStore } from '../../../lib/agents/agentGroups.ts';
import { purgeAgentStep } from '../../../lib/agents/agentJobs.ts';
import { AgentEntity } from '../../../lib/agents/entities.ts';
import { MAX_AGENTS } from '../../../lib/agents/rules/agents.ts';
import { publicBuiltInAgents } from '../../../lib/agents/rules/builtIn.ts';
import { JobEntity } from '../../../lib/jobs/jobStore.ts';
import { newId } from '../../../lib/shared/ids.ts';
import { Table, upsert } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { agentCalls } from '../../support/agents.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { itemsOf } from '../../support/content.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { times } from '../../support/times.ts';

const builtIn = publicBuiltInAgents.map(({ id }) => id);

const { engine, customer } = acmeWorld({ table: 'memory' });

const { call, create, ok, status } = agentCalls(customer);
const createGroup = async (agentIds: string[]): Promise<string> =>
  (await ok('groups/create', { name: 'Group', agentIds })).group.id;
const FULL = 'RESOURCE_EXHAUSTED';
const createTwo = async (path: string) => [await status(path, { name: 'A' }), await status(path, { name: 'B' })];
const membersOf = async (groupId: string): Promise<string[]> => (await ok('groups/get', { groupId })).group.agentIds;
const listedIds = async (data: object): Promise<string[]> => (await ok('get', data)).agents.map(({ id }: any) => id);

/** Writes agents directly into the table. Returns their ids. */
async function store(count: number, description: string): Promise<string[]> {
  const agents = times(count, () => ({
    agentId: newId('agt', Date.now()),
    name: 'A',
    description,
    enabled: true,
    version: 1,
    versionId: 'v',
    createdAt: 1,
    updatedAt: 1,
  }));
  await table.writeAll(agents.map((agent) => upsert(AgentEntity, { tenant: customer.apiKey, ...agent })));
  return agents.map(({ agentId }) => agentId);
}

describe('POST /v2/agents/get as a list', () => {
  test('returns agents without their instructions', async () => {
    const agentId = await create({ description: 'D', instructions: 'Look.', metadata: { a: 1 } });
    const { result } = (await call('get', {})).body;
    expect(result.message).toBe('Agents fetched successfully');
    expect(result.data.agents[0]).toEqual({
      id: agentId,
      name: 'Agent',
      description: 'D',
      enabled: true,
      version: 1,
      managedBy: 'customer',
      metadata: { a: 1, apiKey: customer.apiKey },
      executionCount: 0,
      lastExecutedAt: null,
    });
    expect(result.data.agents.find(({ id }: any) => id === 'spell-check')).toEqual({
      id: 'spell-check',
      name: 'Spell check',
      description: 'Finds misspelt words.',
      enabled: true,
      system: true,
      managedBy: 'system',
      metadata: { type: 'system', category: 'copy-qa' },
      executionCount: 0,
      lastExecutedAt: null,
    });
  });

  test('returns all agents except internal ones, or with a filter only custom or only built-in agents', async () => {
    const agentIds = [await create(), await create()].toSorted();
    expect((await listedIds({})).toSorted()).toEqual([...agentIds, ...builtIn].toSorted());
    expect((await listedIds({ filter: 'customOnly' })).toSorted()).toEqual(agentIds);
    expect(await listedIds({ filter: 'defaultOnly' })).toEqual(builtIn);
  });

  test("returns the agents of a group in the group's order, also with a filter", async () => {
    const [a, b] = [await create(), await create()];
    const groupId = await createGroup([b, 'lorem-ipsum', a, 'crawler', 'spell-check']);
    expect(await listedIds({ groupId })).toEqual([b, 'lorem-ipsum', a, 'spell-check']);
    expect(await listedIds({ groupId, filter: 'customOnly' })).toEqual([b, a]);
    expect(await listedIds({ groupId, filter: 'defaultOnly' })).toEqual(['lorem-ipsum', 'spell-check']);
    expect(await status('get', { groupId: 'agrp_unknown' })).toBe('NOT_FOUND');
    expect(await status('get', { agentId: 'agt_unknown' })).toBe('NOT_FOUND');
  });

  test('returns custom agents and groups of the same second in the order of their creation', async () => {
    const clock = jest.spyOn(Date, 'now');
    const second = Math.floor(Date.now() / 1_000) * 1_000;
    const [agentIds, groupIds]: [string[], string[]] = [[], []];
    for (const index of times(12, (number) => number)) {
      clock.mockReturnValue(second + index);
      agentIds.push(await create());
      groupIds.push(await createGroup([]));
    }
    clock.mockRestore();
    expect(await listedIds({ filter: 'customOnly' })).toEqual(agentIds);
    expect((await ok('groups/list', {})).groups.map(({ id }: any) => id)).toEqual(groupIds);
  });

  test('returns the public fields of a built-in agent', async () => {
    const { agent } = await ok('get', { agentId: 'crawler' });
    expect(agent).toMatchObject({ id: 'crawler', system: true, metadata: { internal: true } });
    expect(Object.keys(agent).toSorted()).toEqual([
      'description',
      'enabled',
      'executionCount',
      'id',
      'inputRequirements',
      'lastExecutedAt',
      'managedBy',
      'metadata',
      'name',
      'system',
      'userContextFields',
    ]);
  });

  test('reads 250 agents with one query, and rejects a list larger than a response may be', async () => {
    const queries = jest.spyOn(Table.prototype, 'query');
    const agentIds = await store(250, 'An agent');
    expect((await listedIds({ filter: 'customOnly' })).toSorted()).toEqual(agentIds.toSorted());
    expect(queries).toHaveBeenCalledTimes(1);
    agentIds.push(...(await store(120, 'x'.repeat(30_000))));
    expect((await listedIds({ filter: 'customOnly' })).toSorted()).toEqual(agentIds.toSorted());
    await store(60, 'x'.repeat(30_000));
    queries.mockRestore();
    const { body } = await call('get', {});
    expect(body.error).toMatchObject({ status: 'INVALID_ARGUMENT', message: expect.stringContaining('groupId') });
  });

  test('lists built-in agents even if the others are too large for a response, and names agentId for a large group', async () => {
    await store(220, 'x'.repeat(30_000));
    expect(await status('get', {})).toBe('INVALID_ARGUMENT');
    expect(await listedIds({ filter: 'defaultOnly' })).toEqual(builtIn);
    const larger = await createGroup(await store(100, 'x'.repeat(60_000)));
    expect((await call('get', { groupId: larger })).body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'The answer would be larger than 5000000 bytes: narrow it by agentId',
    });
  });

  test('keeps the limit of agents for parallel calls, and allows one more agent after a deletion', async () => {
    const [first] = await store(MAX_AGENTS - 3, 'An agent');
    const outcomes = await Promise.all(times(12, (n) => status('create', { name: `Agent ${n}` })));
    expect(outcomes.toSorted()).toEqual([...Array(9).fill(FULL), ...Array(3).fill('success')]);
    await Promise.all([ok('delete', { agentId: first }), ok('delete', { agentId: first })]);
    expect(await createTwo('create')).toEqual(['success', FULL]);
    expect(await listedIds({ filter: 'customOnly' })).toHaveLength(MAX_AGENTS);
  });

  test('counts the stored agents on the first deletion if no count is stored yet', async () => {
    const [first] = await store(MAX_AGENTS, 'An agent');
    await ok('delete', { agentId: first });
    expect(await createTwo('create')).toEqual(['success', FULL]);
  });
});

describe('POST /v2/agents/delete', () => {
  const jobs = () => itemsOf(engine, customer, 'Job');
  async function runJobs(): Promise<void> {
    for (const { jobId } of await jobs()) {
      const job = await table.get(JobEntity, { tenant: customer.apiKey, jobId });
      const step = () => purgeAgentStep(table, { ...job!, tenant: customer.apiKey }, Date.now);
      while ((await runAsJob(step)) !== 'done');
    }
  }

  test('removes the agent from all responses and groups, and starts a job that purges its versions', async () => {
    const [agentId, other] = [await create(), await create({ instructions: 'other' })];
    for (let n = 0; n < 3; n++) await ok('version/update', { agentId, n });
    const groups = [
      await createGroup([agentId, other]),
      await createGroup([other, agentId, 'spell-check']),
      await createGroup([other]),
    ];
    const { result } = (await call('delete', { agentId })).body;
    expect([result.message, result.data]).toEqual(['Agent deleted successfully', { agentId }]);
    expect(await Promise.all(groups.map(membersOf))).toEqual([[other], [other, 'spell-check'], [other]]);
    for (const path of ['get', 'versions/list', 'versions/restore'])
      expect(await status(path, { agentId })).toBe('NOT_FOUND');
    expect(await status('version/update', { agentId, instructions: 'late' })).toBe('NOT_FOUND');
    expect(await status('update', { agentId, name: 'late' })).toBe('NOT_FOUND');
    expect(await status('groups/add-agents', { groupId: groups[2]!, agentIds: [agentId] })).toBe('NOT_FOUND');
    await runJobs();
    expect((await itemsOf(engine, customer, 'AgentVersion')).map(({ behaviour }) => behaviour)).toEqual([
      '{"instructions":"other"}',
    ]);
    await runJobs();
    expect(await ok('delete', { agentId: 'agt_never_was' })).toEqual({ agentId: 'agt_never_was' });
    expect(await status('delete', { agentId: 'spell-check' })).toBe('INVALID_ARGUMENT');
    expect(await listedIds({ filter: 'customOnly' })).toEqual([other]);
  });

  test('deletes the agent even if the call crashes. A job or a repeated call purges the rest', async () => {
    const [first, second] = [await create(), await create()];
    const groupId = await createGroup([first, 'spell-check', second]);
    const spy = jest.spyOn(AgentGroupStore.prototype, 'removeAgent').mockRejectedValue(new Error('out of order'));
    for (const agentId of [first, second]) expect(await status('delete', { agentId })).toBe('INTERNAL');
    spy.mockRestore();
    expect(await status('get', { agentId: first })).toBe('NOT_FOUND');
    expect(await listedIds({ groupId })).toEqual(['spell-check']);
    await ok('delete', { agentId: first });
    expect(await membersOf(groupId)).toEqual(['spell-check', second]);
    await runJobs();
    expect(await membersOf(groupId)).toEqual(['spell-check']);
    expect(await itemsOf(engine, customer, 'AgentVersion')).toEqual([]);
  });

  test('makes a concurrent version update fail with NOT_FOUND', async () => {
    const agentId = await create();
    beforeWrite(() => ok('delete', { agentId }));
    expect(await status('version/update', { agentId, instructions: 'late' })).toBe('NOT_FOUND');
    await runJobs();
    expect(await itemsOf(engine, customer, 'AgentVersion')).toEqual([]);
  });
});

describe('POST /v2/agents/groups/*', () => {
  test('create, return, list, change and delete a group', async () => {
    const agentId = await create();
    const { result } = (
      await call('groups/create', {
        name: '  Website ',
        description: 'D',
        agentIds: [agentId, 'spell-check', agentId],
        metadata: { team: 'web' },
      })
    ).body;
    expect(result.message).toBe('Agent group created successfully');
    const { group } = result.data;
    expect(group).toEqual({
      id: expect.stringMatching(/^agrp_/),
      name: 'Website',
      description: 'D',
      agentIds: [agentId, 'spell-check'],
      metadata: { team: 'web', apiKey: customer.apiKey },
      createdAt: expect.any(Number),
      updatedAt: group.createdAt,
    });
    const groupId = group.id;
    expect((await call('groups/get', { groupId })).body.result).toEqual({
      status: 'success',
      message: 'Agent group fetched successfully',
      data: { group },
    });
    const { agentIds: _, ...row } = group;
    expect((await call('groups/list', {})).body.result).toEqual({
      status: 'success',
      message: 'Agent groups listed successfully',
      data: { groups: [{ ...row, agentCount: 2 }] },
    });
    expect((await ok('groups/update', { groupId, name: 'New' })).group).toMatchObject({
      name: 'New',
      description: 'D',
      agentIds: group.agentIds,
      metadata: group.metadata,
    });
    expect((await call('groups/delete', { groupId })).body.result).toEqual({
      status: 'success',
      message: 'Agent group deleted successfully',
      data: { groupId },
    });
    expect(await status('get', { agentId })).toBe('success');
    for (const [path, data] of [
      ['get', {}],
      ['update', { name: 'A' }],
      ['delete', {}],
      ['add-agents', { agentIds: ['spell-check'] }],
      ['remove-agents', { agentIds: ['spell-check'] }],
    ] as const) {
      expect([path, await status(`groups/${path}`, { groupId, ...data })]).toEqual([path, 'NOT_FOUND']);
    }
  });

  test('groups/add-agents adds all agents or none, each once, and groups/remove-agents ignores missing ones', async () => {
    const [a, b] = [await create(), await create()];
    const groupId = await createGroup(['spell-check']);
    expect((await ok('groups/add-agents', { groupId, agentIds: [a, 'spell-check', b] })).group.agentIds).toEqual([
      'spell-check',
      a,
      b,
    ]);
    expect((await ok('groups/add-agents', { groupId, agentIds: [a] })).group.agentIds).toEqual(['spell-check', a, b]);
    expect(await status('groups/add-agents', { groupId, agentIds: ['lorem-ipsum', 'agt_unknown'] })).toBe('NOT_FOUND');
    expect(await membersOf(groupId)).toEqual(['spell-check', a, b]);
    expect(await status('groups/create', { name: 'A', agentIds: ['spell-check', 'agt_unknown'] })).toBe('NOT_FOUND');
    for (let i = 0; i < 2; i++)
      expect((await ok('groups/remove-agents', { groupId, agentIds: [a, 'agt_unknown'] })).group.agentIds).toEqual([
        'spell-check',
        b,
      ]);
  });

  test('groups/create keeps the limit for parallel calls, and allows one more group after a deletion', async () => {
    const groups: string[] = [];
    for (let i = 0; i < 45; i++) groups.push(await createGroup([]));
    const outcomes = await Promise.all(times(15, () => status('groups/create', { name: 'At once' })));
    expect(outcomes.toSorted()).toEqual([...Array(10).fill(FULL), ...Array(5).fill('success')]);
    await ok('groups/delete', { groupId: groups[0] });
    expect(await createTwo('groups/create')).toEqual(['success', FULL]);
    expect((await ok('groups/list', {})).groups).toHaveLength(50);
  });

  test('groups/add-agents keeps the agents of parallel calls', async () => {
    const groupId = await createGroup([]);
    await Promise.all(builtIn.map((agentId) => ok('groups/add-agents', { groupId, agentIds: [agentId] })));
    expect((await membersOf(groupId)).toSorted()).toEqual(builtIn.toSorted());
  });
});
