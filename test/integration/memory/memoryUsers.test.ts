import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { EmbeddingWorker } from '../../support/embeddingJobs.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';

const document = { type: 'document', id: 'nda', organizationId: 'acme' };

const { customer, itemsOf } = acmeWorld({ documents: ['nda'] });
forAllTests(startQueues);
let viewer: TestUser;
let editor: TestUser;
beforeEach(async () => {
  restartFunctions();
  await customer.setAccess('restricted', ['nda']);
  viewer = await newUser(customer, 'vic', [{ ...document, accessRole: 'viewer' }]);
  editor = await newUser(customer, 'eda', [{ ...document, accessRole: 'editor' }]);
});

const suggest = (user: TestUser, annotationId: string) =>
  user.ok('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [{ annotationId, type: 'suggestion', commentData: [{ commentText: 'Say "shall".' }] }],
  });
const decide = (user: TestUser, annotationId: string, updatedData: object, reason = 'The statute says so') =>
  user.ok('/v2/commentannotations/update', { ...nda, annotationIds: [annotationId], updatedData, reason });
const suggestion = (status: string) => ({ suggestion: { status } });

describe('a decision with a user token', () => {
  test.each([suggestion('accepted'), { status: 'RESOLVED' }])(
    '%j in a thread of their own changes the thread and stores no judgment',
    async (change) => {
      for (const user of [viewer, editor]) {
        await suggest(user, user.userId);
        expect(await decide(user, user.userId, change)).toMatchObject({ [user.userId]: { success: true } });
      }
      expect(await itemsOf('Judgment')).toEqual([]);
      expect((await itemsOf('Job')).filter(({ kind }) => kind === 'embedJudgments')).toEqual([]);
    },
  );

  test.each([
    [suggestion('accepted'), 'accepted'],
    [{ status: 'RESOLVED' }, 'resolved'],
  ])('of an editor in a thread of somebody else, %j, stores the judgment %s', async (change, decision) => {
    await suggest(viewer, 't');
    await decide(editor, 't', change);
    expect(await itemsOf('Judgment')).toMatchObject([{ decision, annotationId: 't', actionUser: { userId: 'eda' } }]);
  });

  test('six times in a thread leaves one judgment, the last one, and one job that embeds it', async () => {
    await suggest(viewer, 't');
    for (const [index, status] of ['accepted', 'rejected', 'accepted', 'rejected', 'accepted', 'rejected'].entries())
      await decide(editor, 't', suggestion(status), `Reason ${index}`);
    expect(await itemsOf('Judgment')).toMatchObject([{ decision: 'rejected', reasoning: 'Reason 5' }]);
    const [job, ...others] = (await itemsOf('Job')).filter(({ kind }) => kind === 'embedJudgments');
    expect(others).toEqual([]);
    expect(job!.notBefore - job!.createdAt).toBe(60_000);
    await new EmbeddingWorker(job!.notBefore).finish({ tenant: customer.apiKey, jobId: job!.jobId });
    const query = { query: 'rejected\nReason 5', ...nda };
    expect((await customer.call('/v2/memory/search', query)).body.result.results).toMatchObject([
      { decision: 'rejected', reasoning: 'Reason 5', similarity: 1 },
    ]);
  });

  test('is one judgment for each editor, beside the judgments of the API key', async () => {
    const other = await newUser(customer, 'otto', [{ ...document, accessRole: 'editor' }]);
    await suggest(viewer, 't');
    await decide(editor, 't', suggestion('accepted'));
    await decide(other, 't', suggestion('rejected'));
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['t'],
      updatedData: suggestion('accepted'),
      reason: 'The server decides',
      actionUser: { userId: 'vic' },
    });
    expect((await itemsOf('Judgment')).map(({ actionUser }) => actionUser.userId).sort()).toEqual([
      'eda',
      'otto',
      'vic',
    ]);
  });
});
