import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, data) => {
    for (let n = 0; n < 9; n++) await send('/v2/crdt/add', { ...nda, editorId: `editor-${n}`, type: 'text', data });
  },
  data: (n) => ({ ...nda, editorId: `editor-${n}`, name: 'First' }),
};
