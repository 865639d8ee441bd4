import type { EndpointCases } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/presence/add', { ...nda, users: [{ userId: 'ada', name: text }] });
  },
  data: (n) => ({ ...nda, users: [{ userId: `user-${n}` }] }),
};
