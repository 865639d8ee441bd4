import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const editor = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

let from: string;

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/crdt/add', { ...editor, type: 'text', data: text });
    from = (await send('/v2/crdt/versions/add', { ...editor, name: text })).body.result.data.versionId;
    await send('/v2/crdt/update', { ...editor, type: 'text', data: `${text}!` });
  },
  data: () => ({ ...editor, from }),
};
