import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

// The rules of the list are tested in integration/userData/documentUsers.test.ts.
describeEndpoint('/v2/users/doc/get', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    const users = [{ userId: 'ada', name: mark, email: `${mark}@example.com` }];
    await send('/v2/users/add', { organizationId: 'acme', documentId: 'nda', users });
  },
  data: () => ({ organizationId: 'acme' }),
  foreignData: [
    { organizationId: 'acme' },
    { organizationId: 'acme', userIds: ['ada'], includeInvolvedDocuments: true },
  ],
});
