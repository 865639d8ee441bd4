import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const INVITED = 8;
const nda = { organizationId: 'acme', type: 'doc_user', documentId: 'nda' };
const emailOf = (n: number) => `user-${n}@example.com`;

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, documentName) => {
    for (let n = 0; n < INVITED; n++) await send('/v2/users/invite/add', { ...nda, email: emailOf(n), documentName });
  },
  data: (n) => ({ ...nda, email: emailOf(n), status: 'REJECTED' }),
};
