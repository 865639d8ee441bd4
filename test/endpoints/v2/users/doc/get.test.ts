import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

// The rules of the list are tested in integration/userData/documentUsers.test.ts.
describeEndpoint('/v2/users/doc/get', {
  documents: ['nda'],
  prepare: async (send, text) => {
    const users = [{ userId: 'ada', name: text, email: `${text}@example.com` }];
    await send('/v2/users/add', { organizationId: 'acme', documentId: 'nda', users });
  },
  data: () => ({ organizationId: 'acme' }),
});
