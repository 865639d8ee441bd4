import type { EndpointCases } from '../../../../support/describeEndpoint.ts';
import { times } from '../../../../support/times.ts';

const DOCUMENTS = 8;

export const cases: EndpointCases = {
  documents: times(DOCUMENTS, (n) => `document-${n}`),
  prepare: async () => {},
  data: (n) => ({ organizationId: 'acme', documentId: `document-${n}`, newDocumentId: `renamed-${n}` }),
};
