import { describe, expect, test } from '@jest/globals';
import { endpoint as addThreads } from '../../../functions/v2/commentannotations/add.ts';
import { endpoint as broadcast } from '../../../functions/v2/livestate/broadcast.ts';
import { endpoint as addUsers } from '../../../functions/v2/users/add.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const { customer, itemsOf } = acmeWorld({ documents: ['nda'] });

/** The default settings of a deployment. */
const settings = { WRITES_PER_SECOND_PER_KEY: '200', CALL_BURST_SECONDS: '10' };

const taggedUserContacts = times(49, (n) => ({ userId: `user-${n}`, text: `@${n}` }));
const threadsWithMentions = (number: number) => ({
  ...nda,
  commentAnnotations: times(number, (n) => ({
    annotationId: `thread-${n}`,
    commentData: [{ commentText: 'Look.', taggedUserContacts, triggerNotification: true }],
  })),
});

async function newViewer() {
  return newUser(customer, 'vera', [{ type: 'document', id: 'nda', organizationId: 'acme', accessRole: 'viewer' }]);
}

describe('the limit on the work of a call', () => {
  test('refuses a call that cannot end within its time within 5 s, and nothing is stored', async () => {
    const viewer = await newViewer();
    const handler = endpointHandler(addThreads, settings);
    const startedAt = performance.now();
    const { status, body } = await post(handler, viewer.headers, threadsWithMentions(500));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringMatching(
        /^commentAnnotations: the call would write about \d{5} items and KB, which takes too long\. At most 10000 are allowed\. Split it into \d or more calls$/,
      ),
      details: { issues: [{ path: ['commentAnnotations'], code: 'too_much_work' }] },
    });
    for (const type of ['Thread', 'Comment', 'Involvement', 'Event']) expect(await itemsOf(type)).toEqual([]);
  });

  test('refuses the second of two calls of a user with 100 threads and 49 mentions each', async () => {
    const viewer = await newViewer();
    const [first, second] = times(2, () => endpointHandler(addThreads, settings));
    await withStillClock(async () => {
      expect((await post(first!, viewer.headers, threadsWithMentions(100))).status).toBe(200);
      // Another process gets the second call.
      const { status, headers, body } = await post(second!, viewer.headers, threadsWithMentions(100));
      expect(status).toBe(429);
      expect(body.error).toEqual({
        status: 'RESOURCE_EXHAUSTED',
        message: expect.stringMatching(/^The user writes too much\. Send the request again after \d+ s\.$/),
      });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      // The servers of the API key can go on.
      expect((await post(second!, customer.headers, { ...nda, commentAnnotations: [] })).status).toBe(400);
    });
  });

  test('counts the size of the body: 180 live states of 60 KB at once exceed the limit of a user', async () => {
    const viewer = await newViewer();
    const handler = endpointHandler(broadcast, settings);
    const answers = await withStillClock(async () => {
      const statuses: number[] = [];
      for (const n of times(180, (index) => index)) {
        const state = { ...nda, liveStateDataId: `state-${n}`, data: { text: 'x'.repeat(60_000) } };
        statuses.push((await post(handler, viewer.headers, state)).status);
      }
      return statuses;
    });
    const stored = answers.filter((status) => status === 200).length;
    // A user has 400 tokens, and each state takes 6.
    expect(stored).toBeGreaterThanOrEqual(66);
    expect(stored).toBeLessThanOrEqual(70);
    expect(answers.slice(stored).every((status) => status === 429)).toBe(true);
  });

  test('lets a server add 500 users in each of 5 calls at once', async () => {
    const handler = endpointHandler(addUsers, settings);
    await withStillClock(async () => {
      for (const call of times(5, (n) => n)) {
        const users = times(500, (n) => ({ userId: `user-${call}-${n}`, name: `User ${n} of call ${call}` }));
        expect((await post(handler, customer.headers, { organizationId: 'acme', users })).status).toBe(200);
      }
    });
  });
});
