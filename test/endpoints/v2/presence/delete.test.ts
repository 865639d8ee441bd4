import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/presence/delete', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    for (let n = 0; n < 9; n++)
      await send('/v2/presence/add', { ...nda, users: [{ userId: `user-${n}`, name: mark }] });
  },
  data: (n) => ({ ...nda, userIds: [`user-${n}`] }),
  foreignData: [{ ...nda, userIds: ['user-0'] }],
});
