import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { newCustomer } from '../../support/customer.ts';
import { addThreads } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/users/data/get';

const { customer } = acmeWorld({ isShared: true });
const orgId = (index: number) => `org-${String(index).padStart(2, '0')}`;

/** Creates 25 organizations. In the third, ada wrote 150 comments. In the last, she wrote one. */
beforeAll(async () => {
  await customer.addOrganizations(times(25, orgId));
  for (const [organizationId, threads] of [
    [orgId(2), 10],
    [orgId(24), 1],
  ] as const) {
    await customer.addDocuments(['d'], { organizationId });
    for (let thread = 0; thread < threads; thread++) {
      const commentData = times(threads === 1 ? 1 : 15, () => ({
        commentText: 'x',
        from: { userId: 'ada' },
      }));
      await addThreads(customer, [{ annotationId: `t${thread}`, commentData }], { organizationId, documentId: 'd' });
    }
  }
}, 60_000);

describe('POST /v2/users/data/get with svcAllOrganizations', () => {
  test('returns the comments of a user in all organizations, each once', async () => {
    const dataPages = await customer.pages(GET, { userId: 'ada', svcAllOrganizations: true });
    const commentLines: string[] = dataPages.flatMap(({ comments }) =>
      comments.map(
        ({ metadata, annotationId, commentId }: any) => `${metadata.organizationId} ${annotationId} ${commentId}`,
      ),
    );
    expect([
      commentLines.length,
      new Set(commentLines).size,
      commentLines.filter((line) => line.startsWith(orgId(24))).length,
    ]).toEqual([151, 151, 1]);
    expect(dataPages.length).toBeLessThanOrEqual(6);
  });

  test('rejects a page token without the same svcAllOrganizations', async () => {
    const { body } = await customer.call(GET, { userId: 'ada', svcAllOrganizations: true });
    expect(
      (await customer.call(GET, { userId: 'ada', organizationId: orgId(2), pageToken: body.result.nextPageToken }))
        .status,
    ).toBe(400);
  });

  test('returns no data of another tenant', async () => {
    const other = await newCustomer();
    expect((await other.call(GET, { userId: 'ada', svcAllOrganizations: true })).body.result).toMatchObject({
      data: { comments: [] },
      nextPageToken: null,
    });
  });

  test.each([
    [
      { userId: 'ada', organizationId: 'org-02', svcAllOrganizations: true },
      'svcAllOrganizations must not be given together with organizationId',
    ],
    [{ userId: 'ada', svcAllOrganizations: 'yes' }, 'svcAllOrganizations must be a boolean'],
    [{ userId: 'ada' }, 'organizationId is required'],
    [{ userId: 'ada', svcAllOrganizations: false }, 'organizationId is required'],
    [
      { userId: 'ada', organizationId: 'org-02', svcUserIds: ['usr_x'] },
      'svcUserIds must be left out: this service has no user ids of its own. Send userId',
    ],
  ])('rejects the request %j', async (data, message) => {
    expect(await customer.error(GET, data)).toEqual(invalid(message));
  });
});

test('POST /v2/users/data/get returns the uniqueId of the request', async () => {
  const { body } = await customer.call(GET, { userId: 'ada', organizationId: orgId(24), uniqueId: 'call-1' });
  expect([body.result.uniqueId, body.result.data.comments.length]).toEqual(['call-1', 1]);
  expect('uniqueId' in (await customer.call(GET, { userId: 'ada', organizationId: orgId(24) })).body.result).toBe(
    false,
  );
});
