import { beforeAll, describe, expect, test } from '@jest/globals';
import { serviceName } from '../../../lib/app/serviceName.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { addThreads, comment, commentCalls, getThread, idsIn, thread } from '../../support/threads.ts';

const { customer, itemsOf } = acmeWorld();
beforeAll(() => {
  // The functions use the service name `collab`, but the headers of calls keep their names.
  Object.assign(serviceName, { open: () => 'collab' });
});

const agent = (agentSource: string, more: object = {}) => ({
  agentSource,
  agentId: 'spell-check',
  executionId: `run-${agentSource}`,
  reason: { title: 't', description: 'd', severity: 'low' },
  ...more,
});
const finding = (agentSource: string) => comment({ agent: agent(agentSource, { agentName: 'Lint' }) });
const add = () =>
  addThreads(
    customer,
    ['collab', 'svc', 'external'].map((source) => thread(source, { commentData: [finding(source)] })),
  );
const list = async (data: object) =>
  idsIn(await customer.ok('/v2/commentannotations/get', { ...nda, order: 'asc', ...data })).toSorted();

describe('agentSource', () => {
  test('accepts the service name, svc and external, and returns the sent value', async () => {
    expect(Object.values<any>(await add()).map(({ success }) => success)).toEqual([true, true, true]);
    for (const source of ['collab', 'svc', 'external'])
      expect((await getThread(customer, source)).comments[0].agent.agentSource).toBe(source);
    const comments = commentCalls(customer, 'svc');
    expect(await comments.add(finding('collab'))).toEqual([2]);
    expect(await comments.update({ commentIds: [1], updatedData: { agent: agent('collab') } })).toMatchObject({
      1: { success: true },
    });
  });

  test('treats the service name and svc as the same source', async () => {
    await add();
    expect(await list({ agentSource: 'collab' })).toEqual(['collab', 'svc']);
    expect(await list({ agentSource: 'svc' })).toEqual(['collab', 'svc']);
    expect(await list({ agentSource: 'external' })).toEqual(['external']);
    expect(await list({ agentSource: 'other' })).toEqual([]);
    expect((await itemsOf('AgentRun')).map(({ executionId }) => executionId).toSorted()).toEqual([
      'run-collab',
      'run-svc',
    ]);
  });

  test('rejects an unknown agent if the source is the service', async () => {
    const added = await addThreads(customer, [
      thread('a', { commentData: [comment({ agent: agent('collab', { agentId: 'nobody' }) })] }),
    ]);
    expect(added.a).toMatchObject({ success: false, message: 'Agent nobody not found.' });
  });

  test.each([
    [
      'annotations/add',
      '/v2/commentannotations/add',
      { commentAnnotations: [thread('b'), thread('c', { commentData: [comment(), finding('other')] })] },
      'commentAnnotations[1].commentData[1]',
    ],
    [
      'comments/add',
      '/v2/commentannotations/comments/add',
      { annotationId: 'svc', comments: [comment(), finding('other')] },
      'comments[1]',
    ],
    [
      'comments/update',
      '/v2/commentannotations/comments/update',
      { annotationId: 'svc', updatedData: { agent: agent('other') } },
      'updatedData',
    ],
  ])('rejects a source other than the service and external in %s', async (_what, path, data, field) => {
    await add();
    expect(await customer.error(path, { ...nda, ...data })).toEqual(
      invalid(`${field}.agent.agentSource must be "svc" or "collab" or "external"`),
    );
    expect(await list({})).toEqual(['collab', 'external', 'svc']);
  });
});
