import type { EndpointCases } from '../../../../../support/describeEndpoint.ts';

const acme = { organizationId: 'acme' };
let migrationId = '';

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send) => {
    const ids = { ...acme, documentId: 'nda', newDocumentId: 'nda-2026' };
    migrationId = (await send('/v2/organizations/documents/migrate', ids)).body.result.data.migrationId;
  },
  data: () => ({ ...acme, migrationId }),
};
