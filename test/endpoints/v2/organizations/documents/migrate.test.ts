import { describeEndpoint } from '../../../../support/describeEndpoint.ts';
import { times } from '../../../../support/times.ts';

const DOCUMENTS = 8;

describeEndpoint('/v2/organizations/documents/migrate', {
  documents: times(DOCUMENTS, (n) => `document-${n}`),
  prepare: async () => {},
  data: (n) => ({ organizationId: 'acme', documentId: `document-${n}`, newDocumentId: `renamed-${n}` }),
});
