import type { EndpointCases } from '../../../../support/describeEndpoint.ts';
import { thread } from '../../../../support/threads.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    const commentAnnotations = [thread('a', { commentData: [{ commentText: text, from: { userId: 'ada' } }] })];
    await send('/v2/commentannotations/add', { ...nda, commentAnnotations });
  },
  data: (n) => ({ ...nda, annotationIds: ['a'], userId: 'bob', viewedAt: 1_000 + n }),
};
