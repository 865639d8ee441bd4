import { describeEndpoint } from '../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

describeEndpoint('/v2/live/changes', {
  prepare: async (send, mark) => {
    await send('/v2/organizations/documents/add', {
      organizationId: 'acme',
      createOrganization: true,
      documents: [{ documentId: 'nda', documentName: mark }],
    });
    await send('/v2/live/connect', nda);
  },
  data: () => ({ ...nda, after: 0 }),
  foreignData: [{ ...nda, after: 0 }],
  cost: { calls: 5, roundTrips: 2, readUnits: 5, writeUnits: 0 },
});
