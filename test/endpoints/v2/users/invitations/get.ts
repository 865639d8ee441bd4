import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const invited = { organizationId: 'acme', email: 'grace@example.com', type: 'doc_user', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, organizationName) => {
    await send('/v2/users/invite/add', { ...invited, organizationName });
  },
  data: () => ({ organizationId: 'acme', email: invited.email }),
};
