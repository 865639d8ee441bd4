import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', type: 'doc_user', documentId: 'nda' };

describeEndpoint('/v2/users/invite/add', {
  documents: ['nda'],
  prepare: async (send) => {
    await send('/v2/workspace/emailconfig/update', { useEmailService: true });
  },
  data: (n) => ({ ...nda, email: `user-${n}@example.com` }),
});
