import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/livestate/get', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    await send('/v2/livestate/broadcast', { ...nda, liveStateDataId: 'clause', data: { mark } });
  },
  data: () => ({ ...nda, liveStateDataIds: ['clause'] }),
  foreignData: [nda, { ...nda, liveStateDataIds: ['clause'] }],
});
