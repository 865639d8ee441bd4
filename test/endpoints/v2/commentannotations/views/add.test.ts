import { describeEndpoint } from '../../../../support/describeEndpoint.ts';
import { thread } from '../../../../support/threads.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/commentannotations/views/add', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    const commentAnnotations = [thread('a', { commentData: [{ commentText: mark, from: { userId: 'ada' } }] })];
    await send('/v2/commentannotations/add', { ...nda, commentAnnotations });
  },
  data: (n) => ({ ...nda, annotationIds: ['a'], userId: 'bob', viewedAt: 1_000 + n }),
  foreignData: [{ ...nda, annotationIds: ['a'], userId: 'bob' }],
});
