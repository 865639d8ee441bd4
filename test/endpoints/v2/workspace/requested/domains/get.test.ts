import { describeEndpoint } from '../../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/requested/domains/get', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    const domain = `${mark.toLowerCase()}.example.com`;
    await send('/v2/workspace/domains/request', { organizationId: 'acme', clientDocumentId: 'nda', domain });
  },
  data: () => ({}),
  foreignData: [{}],
});
