import { beforeEach, describe, expect, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import { TITAN_MODEL } from '../../../lib/bedrock/titan.ts';
import {
  dueJobIndex,
  type JobKind,
  type JobMessage,
  queueOfJob,
  REQUESTS_ENDED_MS,
} from '../../../lib/jobs/jobStore.ts';
import { jobSweep } from '../../../lib/jobs/jobSweep.ts';
import { startEmbedding } from '../../../lib/memory/embeddingJobs.ts';
import { EmbeddingStateEntity, vectorsOf } from '../../../lib/memory/entities.ts';
import { LEXICAL_MODEL } from '../../../lib/memory/rules/lexical.ts';
import { vectorPartition } from '../../../lib/memory/vectorIndexes.ts';
import { shardNumbers } from '../../../lib/table/queryShards.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { EmbeddingWorker } from '../../support/embeddingJobs.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { deleteItem, itemsOfTenant } from '../../support/items.ts';
import { startQueues } from '../../support/queues.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { startTitan, type TitanReply } from '../../support/titan.ts';
import { recordingMeasures, silentLog } from '../../support/workers.ts';

const MINUTE = 60_000;
const acme = { organizationId: 'acme' };
const actionUser = { userId: 'grace' };
/** An error that is not retried. With it, tests do not wait for retries. */
const refused: TitanReply = { status: 403, error: 'AccessDeniedException' };

const { engine, customer, itemsOf } = acmeWorld({ isCleared: true, table: 'memory' });
const queues = forAllTests(startQueues);
const titan = forAllTests(startTitan);
beforeEach(async () => {
  deployWith('lexical');
  queues.clear();
  titan.calls.length = 0;
  titan.script = () => undefined;
  await customer.addFolders(['reviews']);
});

/** Configures the model and restarts the functions, like a deployment. */
function deployWith(model: 'lexical' | typeof TITAN_MODEL): void {
  process.env.EMBEDDING_MODEL = model;
  restartFunctions();
}

interface Judged {
  readonly recordId: string;
  readonly reasoning: string;
}

const judgedBy = (recordId: string, reasoning: string): Judged => ({ recordId, reasoning });
const judged: readonly Judged[] = [
  judgedBy('liability', 'Liability is unlimited, the contract has no cap'),
  judgedBy('payment', 'Payment within ninety days is too late'),
  judgedBy('contrast', 'Grey text on white has too little contrast'),
  ...times(25, (index) => judgedBy(`other-${index}`, `Number ${index} of many sentences about the weather`)),
];
const add = (
  ...judgments: readonly Judged[]
): Promise<Record<string, { success: boolean; id: string; message: string }>> =>
  customer.ok('/v2/memory/judgments/add', {
    ...acme,
    judgments: judgments.map((judgment) => ({
      ...judgment,
      decision: 'rejected',
      actionUser,
      content: `Content of ${judgment.recordId}`,
    })),
  });
async function search(query: string): Promise<string[]> {
  const { status, body } = await customer.call('/v2/memory/search', { ...acme, query, limit: 1 });
  if (status !== 200) return [body.error.status];
  return body.result.results.map(({ recordId }: Judged) => recordId);
}
const both = (lexical: number, titanic: number) => ({ [LEXICAL_MODEL]: lexical, [TITAN_MODEL]: titanic });

/** Returns what is stored: the embedding state, the number of vectors of each model and the jobs, oldest first. */
async function stored() {
  const items = await itemsOfTenant(engine, customer.apiKey);
  const of = (type: string) => items.filter(({ _t }) => _t === type);
  const vectors = (model: string) =>
    of('JudgmentVector').filter((item) => item[vectorPartition] === vectorsOf(customer.apiKey, model));
  const [state] = of('EmbeddingState').map(({ model, next, stale }) =>
    JSON.parse(JSON.stringify({ model, next, stale })),
  );
  return {
    state,
    vectors: both(vectors(LEXICAL_MODEL).length, vectors(TITAN_MODEL).length),
    titanVectors: vectors(TITAN_MODEL),
    jobs: of('Job').toSorted((first, second) => first.createdAt - second.createdAt),
  };
}
/** Expects the model of the vectors, the number of vectors of both models, and that no job is left. */
async function expectAtRest(model: string, lexical: number, titanic: number): Promise<void> {
  const { state, vectors, jobs } = await stored();
  expect({ state, vectors, jobs }).toEqual({ state: { model }, vectors: both(lexical, titanic), jobs: [] });
}
/** Returns the messages of the embedding jobs. */
async function startedJobs(): Promise<JobMessage[]> {
  const { jobs } = await stored();
  return jobs
    .filter(({ kind }) => queueOfJob[kind as JobKind] === 'embed')
    .map(({ jobId }) => ({ tenant: customer.apiKey, jobId }));
}

const keyOfOrganization = async () => (await itemsOf('Organization'))[0]!.internalId as string;

const LIABILITY = 'cap on liability in the contract';
const expectBest = async () => expect(await search(LIABILITY)).toEqual(['liability']);

describe('a judgment whose embedding failed', () => {
  beforeEach(() => deployWith(TITAN_MODEL));

  test('is stored without vectors, and the worker embeds it later', async () => {
    titan.script = () => refused;
    const results = await add(...judged.slice(0, 3));
    for (const { recordId } of judged.slice(0, 3))
      expect(results[recordId]).toEqual({
        success: true,
        id: recordId,
        message: expect.stringMatching(/after the embedding model has answered/),
      });
    expect((await customer.call('/v2/memory/judgments/query', acme)).body.result.total).toBe(3);
    expect(await stored()).toMatchObject({ vectors: both(0, 0), jobs: [{ kind: 'embedJudgments' }] });
    titan.script = () => undefined;
    expect(await search(LIABILITY)).toEqual([]);
    const [message] = await startedJobs();
    await new EmbeddingWorker(Date.now()).run(message!);
    await expectAtRest(TITAN_MODEL, 0, 3);
    await expectBest();
  });

  test('keeps its job while the model fails, and the sweep starts the job again', async () => {
    titan.script = () => refused;
    await add(...judged.slice(0, 3));
    const [message] = await startedJobs();
    const worker = new EmbeddingWorker(Date.now());
    await expect(worker.run(message!)).rejects.toThrow('The embedding model does not answer');
    queues.clear();
    await sweepAt(Date.now() + 30 * MINUTE);
    expect([queues.messagesOf('embed').map(({ body }) => body), queues.messagesOf('jobs')]).toEqual([[message], []]);
    titan.script = () => undefined;
    worker.now += 30 * MINUTE;
    await worker.run(message!);
    await expectBest();
  });

  test('is embedded within the call if a throttled model recovers', () =>
    withStillClock(async () => {
      titan.script = (_call, number) => (number < 3 ? { status: 429, error: 'ThrottlingException' } : undefined);
      expect(await add(judged[0]!)).toEqual({
        liability: { success: true, id: 'liability', message: 'Judgment added.' },
      });
      await expectAtRest(TITAN_MODEL, 0, 1);
    }));

  test('is embedded once if the worker continues after a crash', () =>
    withStillClock(async () => {
      deployWith('lexical');
      await add(...judged);
      deployWith(TITAN_MODEL);
      const [message, now] = [{ tenant: customer.apiKey, jobId: 'left' }, Date.now()];
      const organizationKey = await keyOfOrganization();
      const refs = judged.map(({ recordId }) => ({ organizationKey, recordId }));
      await table.write([startEmbedding(customer.apiKey, 'left', refs, now)]);
      let steps = 0;
      const crashing = new EmbeddingWorker(now, (deps) => ({
        ...deps,
        steps: {
          ...deps.steps,
          embedJudgments: (...step) =>
            ++steps > 1 ? Promise.reject(new Error('killed')) : deps.steps.embedJudgments(...step),
        },
      }));
      await expect(crashing.run(message)).rejects.toThrow('killed');
      expect([(await stored()).vectors, titan.calls.length]).toEqual([both(28, 25), 50]);
      await new EmbeddingWorker(now + 10 * MINUTE).run(message);
      expect([(await stored()).vectors, titan.calls.length]).toEqual([both(28, 28), 56]);
      expect(await startedJobs()).toEqual([]);
    }));

  test('makes the worker store the embedding state that a tenant lacks', async () => {
    deployWith('lexical');
    await add(...judged.slice(0, 3));
    const message = { tenant: customer.apiKey, jobId: 'decision' };
    await deleteItem(engine, EmbeddingStateEntity.key(message));
    const refs = [{ organizationKey: await keyOfOrganization(), recordId: 'liability' }];
    await table.write([startEmbedding(customer.apiKey, message.jobId, refs, Date.now())]);
    deployWith(TITAN_MODEL);
    await new EmbeddingWorker(Date.now()).run(message);
    await expectAtRest(TITAN_MODEL, 3, 1);
  });

  test('is skipped if it was deleted before the worker runs', async () => {
    titan.script = () => refused;
    await add(...judged.slice(0, 3));
    titan.script = () => undefined;
    await customer.ok('/v2/organizations/delete', { organizationIds: ['acme'] });
    titan.calls.length = 0;
    for (const message of await startedJobs()) await new EmbeddingWorker(Date.now()).run(message);
    expect(await startedJobs()).toEqual([]);
  });

  test('POST /v2/memory/search returns UNAVAILABLE when its query cannot be embedded', async () => {
    await add(...judged.slice(0, 3));
    titan.script = () => refused;
    const { status, body } = await customer.call('/v2/memory/search', { ...acme, query: LIABILITY });
    expect([status, body.error.status, JSON.stringify(body).includes('AccessDenied')]).toEqual([
      503,
      'UNAVAILABLE',
      false,
    ]);
  });
});

describe('a change of the embedding model', () => {
  test('keeps searches working and purges the vectors of the old model, in both directions', () =>
    withStillClock(async () => {
      await add(...judged);
      await expectAtRest(LEXICAL_MODEL, 28, 0);

      deployWith(TITAN_MODEL);
      await expectBest();
      // Queries are not sent to Titan until all judgments have Titan vectors.
      await expectBest();
      expect([titan.calls, (await stored()).jobs.map(({ kind }) => kind)]).toEqual([[], ['changeEmbedding']]);
      await add(judgedBy('tone', 'Too formal for our brand voice'));
      expect((await stored()).vectors).toEqual(both(29, 1));
      const [message] = await startedJobs();
      const steps = await new EmbeddingWorker(Date.now()).finish(message!, async () => {
        expect(await search('formal brand voice')).toEqual(['tone']);
      });
      expect(steps).toBeGreaterThan(4);
      await expectAtRest(TITAN_MODEL, 0, 29);
      const before = titan.calls.length;
      await expectBest();
      expect(titan.calls.slice(before).map(({ inputText }) => inputText)).toEqual([LIABILITY]);

      // After the change back to lexical, functions may not call Titan.
      deployWith('lexical');
      queues.clear();
      await expectBest();
      const [back] = await startedJobs();
      await add(judgedBy('budget', 'Travel costs exceed the budget'));
      expect(await search('budget for travel')).toEqual(['budget']);
      await new EmbeddingWorker(Date.now()).finish(back!, expectBest);
      await expectAtRest(LEXICAL_MODEL, 30, 0);
      expect(titan.calls).toHaveLength(before + 1);
    }));

  test('limits searches to documentIds and excludeDocumentIds also while the model cannot be called', () =>
    withStillClock(async () => {
      deployWith(TITAN_MODEL);
      await customer.addDocuments(['nda', 'tos', 'msa']);
      for (const documentId of ['nda', 'tos', 'msa']) {
        const judgments = [{ recordId: documentId, reasoning: 'Too late', decision: 'rejected', actionUser }];
        await customer.ok('/v2/memory/judgments/add', { ...acme, documentId, judgments });
      }
      deployWith('lexical');
      const found = async (data: object) => {
        const { results } = await customer.result('/v2/memory/search', { ...acme, query: 'late', ...data });
        return results.map(({ recordId }: Judged) => recordId).sort();
      };
      expect(await found({ documentIds: ['nda', 'tos'] })).toEqual(['nda', 'tos']);
      expect(await found({ filters: { excludeDocumentIds: ['nda'] } })).toEqual(['msa', 'tos']);
    }));

  test('purges the vectors of the new model if the change is reverted halfway', () =>
    withStillClock(async () => {
      await add(...judged);
      deployWith(TITAN_MODEL);
      await expectBest();
      const [message] = await startedJobs();
      const worker = new EmbeddingWorker(Date.now());
      await worker.run(message!, { deadline: 0 });
      await worker.run(message!, { deadline: 0 });
      expect(await stored()).toMatchObject({
        state: { model: LEXICAL_MODEL, next: TITAN_MODEL },
        vectors: both(28, 25),
      });
      deployWith('lexical');
      await new EmbeddingWorker(worker.now + 10 * MINUTE).finish(message!, expectBest);
      await expectAtRest(LEXICAL_MODEL, 28, 0);
    }));

  test('has the same result if each step runs twice in parallel and is repeated', () =>
    withStillClock(async () => {
      await add(...judged);
      deployWith(TITAN_MODEL);
      await expectBest();
      const [message] = await startedJobs();
      const twice = new EmbeddingWorker(Date.now(), (deps) => ({
        ...deps,
        steps: {
          ...deps.steps,
          async changeEmbedding(...step) {
            await Promise.all([deps.steps.changeEmbedding(...step), deps.steps.changeEmbedding(...step)]);
            return deps.steps.changeEmbedding(...step);
          },
        },
      }));
      await twice.finish(message!, expectBest);
      await expectAtRest(TITAN_MODEL, 0, 28);
    }));

  test('embeds judgments that functions of the previous deployment write during the change', async () => {
    await add(...judged.slice(0, 3));
    deployWith(TITAN_MODEL);
    await expectBest();
    const [message] = await startedJobs();
    const worker = new EmbeddingWorker(Date.now());
    await worker.run(message!, { deadline: 0 });
    expect((await stored()).state).toEqual({ model: LEXICAL_MODEL, next: TITAN_MODEL });
    // All judgments have Titan vectors now. A function that read the old state could still store one without, so the
    // job checks again later.
    worker.sent.length = 0;
    await worker.deps.steps.changeEmbedding((await worker.job(message!))!, () => worker.now, worker.call);
    await worker.run(message!, { deadline: 0 });
    expect([worker.sent, (await stored()).vectors]).toEqual([
      [{ body: message, groupId: message!.tenant, delaySeconds: REQUESTS_ENDED_MS / 1000 }],
      both(3, 3),
    ]);
    await deleteItem(engine, (await stored()).titanVectors[0]!);
    // A function of the previous deployment stores a judgment. The worker of that deployment does nothing for it.
    deployWith('lexical');
    queues.clear();
    expect((await add(judgedBy('late', 'Written by the version before'))).late!.message).toMatch(
      /after the embedding model has answered/,
    );
    const own = (await startedJobs()).find(({ jobId }) => jobId !== message!.jobId);
    const old = new EmbeddingWorker(Date.now());
    await old.run(own!);
    expect([(await stored()).vectors, old.sent]).toEqual([
      both(4, 2),
      [{ body: own, groupId: own!.tenant, delaySeconds: 60 }],
    ]);
    deployWith(TITAN_MODEL);
    await new EmbeddingWorker(Date.now() + 2 * MINUTE).run(own!);
    expect((await stored()).vectors).toEqual(both(4, 3));
    await new EmbeddingWorker(worker.now + 10 * MINUTE).finish(message!);
    await expectAtRest(TITAN_MODEL, 0, 4);
  });

  test('waits while the model does not answer, and searches use the old model', async () => {
    await add(...judged.slice(0, 3));
    deployWith(TITAN_MODEL);
    titan.script = () => refused;
    await expectBest();
    const [message] = await startedJobs();
    const worker = new EmbeddingWorker(Date.now());
    await expect(worker.run(message!)).rejects.toThrow('The embedding model does not answer');
    await expectBest();
    titan.script = () => undefined;
    await new EmbeddingWorker(Date.now() + 10 * MINUTE).finish(message!, expectBest);
    await expectAtRest(TITAN_MODEL, 0, 3);
  });
});

async function sweepAt(now: number): Promise<void> {
  const sweep = jobSweep.open(environment(process.env));
  const call = { clock: () => now, deadline: now + MINUTE, log: silentLog, measures: recordingMeasures() };
  await Promise.all(shardNumbers(dueJobIndex.shards).map((shard) => sweep(shard, call)));
}
