import type { EndpointCases } from '../../../../../support/describeEndpoint.ts';

const invited = { organizationId: 'acme', email: 'grace@example.com', type: 'org_user' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, organizationName) => {
    await send('/v2/users/invite/add', { ...invited, organizationName });
  },
  data: () => ({ organizationId: 'acme', type: 'org_user' }),
};
