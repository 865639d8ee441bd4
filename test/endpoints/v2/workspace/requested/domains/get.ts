import type { EndpointCases } from '../../../../../support/describeEndpoint.ts';

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    const domain = `${text.toLowerCase()}.example.com`;
    await send('/v2/workspace/domains/request', { organizationId: 'acme', clientDocumentId: 'nda', domain });
  },
  data: () => ({}),
};
