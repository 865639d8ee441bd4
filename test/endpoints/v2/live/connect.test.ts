import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/live/connect', {
  prepare: async (send, mark) => {
    await send('/v2/organizations/documents/add', {
      organizationId: 'acme',
      createOrganization: true,
      documents: [{ documentId: 'nda', documentName: mark }],
    });
  },
  data: () => nda,
  foreignData: [nda],
  cost: { calls: 7, roundTrips: 6, readUnits: 7, writeUnits: 2 },
});
