import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/live/connect', {
  documents: ['nda'],
  prepare: async () => {},
  data: () => nda,
  foreignData: [nda],
  cost: { calls: 7, roundTrips: 6, readUnits: 7, writeUnits: 2 },
});
