import { describeEndpoint } from '../../../../../support/describeEndpoint.ts';

const acme = { organizationId: 'acme' };
let migrationId = '';

describeEndpoint('/v2/organizations/documents/migrate/status', {
  documents: ['nda'],
  prepare: async (send) => {
    const ids = { ...acme, documentId: 'nda', newDocumentId: 'nda-2026' };
    migrationId = (await send('/v2/organizations/documents/migrate', ids)).body.result.data.migrationId;
  },
  data: () => ({ ...acme, migrationId }),
});
