import type { EndpointCases } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async () => {},
  data: () => nda,
};
