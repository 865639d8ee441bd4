import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/presence/add', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    await send('/v2/presence/add', { ...nda, users: [{ userId: 'ada', name: mark }] });
  },
  data: (n) => ({ ...nda, users: [{ userId: `user-${n}` }] }),
  foreignData: [{ ...nda, users: [{ userId: 'ada' }] }],
});
