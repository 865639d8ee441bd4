import { describeEndpoint } from '../../../../../support/describeEndpoint.ts';

describeEndpoint('/v2/workspace/requested/domains/get', {
  documents: ['nda'],
  prepare: async (send, text) => {
    const domain = `${text.toLowerCase()}.example.com`;
    await send('/v2/workspace/domains/request', { organizationId: 'acme', clientDocumentId: 'nda', domain });
  },
  data: () => ({}),
});
