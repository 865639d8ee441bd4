import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/presence/get', {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/presence/add', { ...nda, users: [{ userId: 'ada', name: text }] });
  },
  data: () => nda,
});
