import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', type: 'doc_user', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send) => {
    await send('/v2/workspace/emailconfig/update', { useEmailService: true });
  },
  data: (n) => ({ ...nda, email: `user-${n}@example.com` }),
};
