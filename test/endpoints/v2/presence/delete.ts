import type { EndpointCases } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    for (let n = 0; n < 9; n++)
      await send('/v2/presence/add', { ...nda, users: [{ userId: `user-${n}`, name: text }] });
  },
  data: (n) => ({ ...nda, userIds: [`user-${n}`] }),
};
