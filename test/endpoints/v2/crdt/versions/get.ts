import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const editor = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/crdt/add', { ...editor, type: 'text', data: text });
    await send('/v2/crdt/versions/add', { ...editor, name: text });
  },
  data: () => editor,
};
