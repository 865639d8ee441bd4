import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };

const versionIds: string[] = [];

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, data) => {
    for (let n = 0; n < 9; n++) {
      const editor = { ...nda, editorId: `editor-${n}` };
      await send('/v2/crdt/add', { ...editor, type: 'text', data });
      const { body } = await send('/v2/crdt/versions/add', { ...editor, name: data });
      versionIds.push(body.result.data.versionId);
    }
  },
  data: (n) => ({ ...nda, editorId: `editor-${n}`, versionIds: [versionIds[n]] }),
};
