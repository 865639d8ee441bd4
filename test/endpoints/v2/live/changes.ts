import type { EndpointCases } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send) => {
    await send('/v2/live/connect', nda);
  },
  data: () => ({ ...nda, after: 0 }),
};
