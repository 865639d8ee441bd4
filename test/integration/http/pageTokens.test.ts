import { expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda'] });

test.each([
  ['/v2/organizations/get', {}, { organizationIds: ['acme'] }],
  ['/v2/organizations/documents/get', { organizationId: 'acme' }, { documentIds: ['nda'] }],
  ['/v2/commentannotations/get', nda, { annotationIds: ['thread'] }],
  ['/v2/commentannotations/comments/get', { ...nda, annotationId: 'thread' }, { commentIds: [1] }],
])('%s refuses a page token together with ids, whose items are on one page', async (path, data, ids) => {
  for (const annotationId of ['thread', 'other'])
    await customer.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId, commentData: [{ commentText: 'x', from: { userId: 'ada' } }] }],
    });
  expect(await customer.untyped(path, { ...data, ...ids, pageSize: 1 })).toHaveLength(1);
  const { status, body } = await customer.call(path, { ...data, ...ids, pageToken: 'token' });
  const [name] = Object.keys(ids);
  expect([status, body.error.message, body.error.details.issues[0].path]).toEqual([
    400,
    `pageToken must not be given together with ${name}`,
    ['pageToken'],
  ]);
});
