import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const acme = { organizationId: 'acme', clientDocumentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async () => {},
  data: (n) => ({ ...acme, domain: `https://partner-${n}.example.com` }),
};
