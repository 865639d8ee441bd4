import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/live/connect', {
  documents: ['nda'],
  prepare: async () => {},
  data: () => nda,
});
