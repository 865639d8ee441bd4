import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/live/changes', {
  documents: ['nda'],
  prepare: async (send) => {
    await send('/v2/live/connect', nda);
  },
  data: () => ({ ...nda, after: 0 }),
});
