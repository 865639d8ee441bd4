import { describe, expect, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import { runJob } from '../../../lib/jobs/runJob.ts';
import { EmbeddingStateEntity } from '../../../lib/memory/entities.ts';
import { runEmbeddingJobs } from '../../../lib/memory/runEmbeddingJobs.ts';
import { insert, putUnlessNewer } from '../../../lib/table/table.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { recordingMeasures, silentLog } from '../../support/workers.ts';

const UPDATE = '/v2/commentannotations/update';
const grace = {
  userId: 'grace',
  name: 'Grace Hopper',
  email: 'grace@example.com',
  photoUrl: 'https://example.com/grace.png',
};

const { customer, itemsOf } = acmeWorld({ isShared: true, documents: ['nda'] });

const threads = (...annotationIds: string[]) =>
  customer.untyped('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: annotationIds.map((annotationId) => ({
      annotationId,
      type: 'suggestion',
      commentData: [{ commentText: `Say "shall" in ${annotationId}`, from: { userId: 'ada' } }],
    })),
  });
const update = (data: object) => customer.ok(UPDATE, { ...nda, actionUser: grace, ...data });
const judgmentsOf = async (annotationId: string) =>
  (await itemsOf('Judgment')).filter((item) => item.annotationId === annotationId);

describe('POST /v2/commentannotations/update with a reason', () => {
  test('writes a judgment in the same transaction, and a job embeds it', async () => {
    await threads('one', 'two');
    await update({
      annotationIds: ['one', 'two'],
      updatedData: { suggestion: { status: 'accepted' } },
      reason: 'The statute says shall',
    });
    const [judgment, ...others] = await judgmentsOf('one');
    expect(others).toEqual([]);
    expect(judgment).toMatchObject({
      recordId: expect.stringMatching(/^jdg_\w{27}$/),
      decision: 'accepted',
      reasoning: 'The statute says shall',
      content: 'Say "shall" in one',
      ...nda,
      annotationId: 'one',
      actionUser: { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
    });
    const search = async (data: object) =>
      (await customer.call('/v2/memory/search', { query: 'accepted\nThe statute says shall', ...nda, ...data })).body
        .result;
    expect(await search({})).toMatchObject({ results: [], totalInScope: 2 });
    expect((await search({ filters: { annotationId: 'one' } })).results).toMatchObject([
      { decision: 'accepted', agent: null, similarity: 1 },
    ]);
    const deps = { ...runEmbeddingJobs.open(environment(process.env)), queue: { send: async () => undefined } };
    const jobs = await itemsOf('Job');
    expect(jobs.map(({ kind }) => kind)).toEqual(['embedJudgments', 'embedJudgments']);
    for (const { jobId } of jobs)
      await runJob(deps, {
        message: { tenant: customer.apiKey, jobId },
        clock: Date.now,
        deadline: Infinity,
        log: silentLog,
        measures: recordingMeasures(),
      });
    expect(
      (await search({})).results.map(({ annotationId, similarity }: any) => [annotationId, similarity]).sort(),
    ).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
    expect(
      (await search({ embeddingType: 'content', query: 'Say "shall" in two', limit: 1 })).results[0].annotationId,
    ).toBe('two');
    expect(await itemsOf('Job')).toEqual([]);
  });

  test('writes one judgment per change of the decision with a reason, and none for other changes', async () => {
    await threads('three');
    await update({ annotationIds: ['three'], updatedData: { priority: 'high' }, reason: 'It matters' });
    await update({ annotationIds: ['three'], updatedData: { status: 'RESOLVED' } });
    expect(await judgmentsOf('three')).toEqual([]);
    await update({ annotationIds: ['three'], updatedData: { status: 'OPEN' }, reason: 'Not yet' });
    await update({ annotationIds: ['three'], updatedData: { status: 'RESOLVED' }, reason: 'Done now' });
    await update({ annotationIds: ['three'], updatedData: { status: 'RESOLVED' }, reason: 'Done now' });
    await update({
      annotationIds: ['three'],
      updatedData: { status: { id: 'rejected', type: 'terminal' } },
      reason: 'It was wrong',
    });
    expect((await judgmentsOf('three')).map(({ decision, reasoning }) => [decision, reasoning]).sort()).toEqual([
      ['rejected', 'It was wrong'],
      ['resolved', 'Done now'],
    ]);
  });

  test('writes one judgment for each decision that parallel calls store', async () => {
    await threads('four');
    await Promise.all(
      ['accepted', 'rejected', 'accepted'].map((status) =>
        customer.call(UPDATE, {
          ...nda,
          actionUser: grace,
          annotationIds: ['four'],
          updatedData: { suggestion: { status } },
          reason: status,
        }),
      ),
    );
    const [thread] = (await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: ['four'] })) as any[];
    const judgments = await judgmentsOf('four');
    expect(judgments.length).toBeGreaterThanOrEqual(1);
    expect(judgments.length).toBeLessThanOrEqual(3);
    expect(judgments.map(({ decision }) => decision)).toContain(thread.suggestion.status);
    expect(judgments.every(({ decision, reasoning }) => decision === reasoning)).toBe(true);
  });

  test.each([
    ['a missing actionUser', { actionUser: undefined, reason: 'why' }, 'actionUser is required with reason'],
    ['a blank reason', { reason: ' ' }, 'reason must not be blank'],
  ])('rejects %s', async (_what, data, message) => {
    expect(
      await customer.error(UPDATE, {
        ...nda,
        annotationIds: ['one'],
        updatedData: { status: 'RESOLVED' },
        actionUser: grace,
        ...data,
      }),
    ).toEqual(invalid(expect.stringContaining(message)));
  });
});

test('POST /v2/memory/judgments/add stores a confidence that is too small for DynamoDB as 0', async () => {
  const judgment = { decision: 'approved', reasoning: 'Fine', actionUser: grace, confidence: 1e-200 };
  await customer.ok('/v2/memory/judgments/add', { ...nda, judgments: [{ recordId: 'tiny', ...judgment }] });
  const { results } = await customer.result('/v2/memory/search', { query: 'Fine', limit: 1 });
  expect(results).toMatchObject([{ recordId: 'tiny', confidence: 0 }]);
});

test('a write of the embedding state replaces an equal or earlier revision, but no later one', async () => {
  const tenant = 'advancing';
  const model = async () => (await table.get(EmbeddingStateEntity, { tenant }))?.model;
  const put = (name: string, revision: number) =>
    table.write([putUnlessNewer(EmbeddingStateEntity, { tenant, model: name }, revision)]);
  expect([await put('three', 3), await model()]).toEqual(['done', 'three']);
  expect([await put('two', 2), await model()]).toEqual([{ conflicts: [0] }, 'three']);
  expect([await put('also three', 3), await put('four', 4), await model()]).toEqual(['done', 'done', 'four']);
  expect(await table.write([insert(EmbeddingStateEntity, { tenant, model: 'first' })])).toEqual({ conflicts: [0] });
});
