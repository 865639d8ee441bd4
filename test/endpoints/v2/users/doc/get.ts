import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

// The rules of the list are tested in integration/userData/documentUsers.test.ts.
export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    const users = [{ userId: 'ada', name: text, email: `${text}@example.com` }];
    await send('/v2/users/add', { organizationId: 'acme', documentId: 'nda', users });
  },
  data: () => ({ organizationId: 'acme' }),
};
