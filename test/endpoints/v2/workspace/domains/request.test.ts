import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

const acme = { organizationId: 'acme', clientDocumentId: 'nda' };

describeEndpoint('/v2/workspace/domains/request', {
  documents: ['nda'],
  prepare: async () => {},
  data: (n) => ({ ...acme, domain: `https://partner-${n}.example.com` }),
});
