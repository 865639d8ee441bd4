import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addRuns, type AgentRun, type RunCount, toRunCountResponse } from '../../../lib/agents/rules/runs.ts';
import { agentsOfComments } from '../../../lib/comments/rules/commentAgents.ts';

const [createdAt, now] = [100, 1_000];
const reason = { title: 't', description: 'd', severity: 'high' };
const comment = (agent?: object, createdTime?: number) => ({
  ...(agent && { agent: { agentSource: 'svc', agentId: 'a', reason, ...agent } }),
  createdAt: createdTime,
});
const agentsNamedIn = (...comments: ReturnType<typeof comment>[]) => agentsOfComments(comments, { createdAt, now });

describe('agentsOfComments', () => {
  test('returns each agent of the service once per execution', () => {
    expect(
      agentsNamedIn(
        comment({ executionId: 'x' }),
        comment(),
        comment({ agentId: 'b', executionId: 'x' }),
        comment({}),
        comment({ executionId: 'y' }),
        comment({ executionId: 'x' }, 5),
      ),
    ).toEqual([
      { agentId: 'a', run: { executionId: 'x', at: createdAt } },
      { agentId: 'b', run: { executionId: 'x', at: createdAt } },
      { agentId: 'a', run: undefined },
      { agentId: 'a', run: { executionId: 'y', at: createdAt } },
    ]);
    expect(agentsNamedIn(comment({ agentSource: 'external', agentName: 'A', executionId: 'x' }))).toEqual([]);
  });

  test.each([
    [5, 5],
    [undefined, createdAt],
    [now + 1, now],
  ])('returns the run of a comment created at %p with the time %p', (commentTime, ran) => {
    expect(agentsNamedIn(comment({ executionId: 'x' }, commentTime))).toEqual([
      { agentId: 'a', run: { executionId: 'x', at: ran } },
    ]);
  });

  test('distinguishes agents and executions with similar ids', () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), {
      selector: (pair) => JSON.stringify(pair),
      maxLength: 10,
    });
    fc.assert(
      fc.property(pairs, (all) => {
        const agents = all.map(([agentId, executionId]) => comment({ agentId, executionId }));
        expect(agentsNamedIn(...agents, ...agents).map(({ agentId, run }) => [agentId, run?.executionId])).toEqual(all);
      }),
    );
  });
});

describe('addRuns', () => {
  test('returns 0 executions at time null without runs', () => {
    expect(toRunCountResponse(addRuns({}, []))).toEqual({ executionCount: 0, lastExecutedAt: null });
  });

  test('adds up all runs and returns the latest time, however the runs are grouped', () => {
    const run = fc.record({ executionId: fc.string(), at: fc.nat() });
    fc.assert(
      fc.property(fc.array(fc.array(run, { maxLength: 5 }), { maxLength: 5 }), (portions: AgentRun[][]) => {
        const { name, ...counts } = portions.reduce<RunCount & { name: string }>(
          (before, runs) => addRuns(before, runs),
          { name: 'Agent' },
        );
        const all = portions.flat();
        expect(toRunCountResponse(counts)).toEqual({
          executionCount: all.length,
          lastExecutedAt: all.length === 0 ? null : Math.max(...all.map(({ at }) => at)),
        });
        expect(name).toBe('Agent');
      }),
    );
  });
});
