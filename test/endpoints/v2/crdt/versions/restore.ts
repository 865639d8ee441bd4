import type { EndpointCases } from '../../../../support/describeEndpoint.ts';

const editor = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

const versionIds: string[] = [];

export const cases: EndpointCases = {
  documents: ['nda'],
  prepare: async (send, text) => {
    await send('/v2/crdt/add', { ...editor, type: 'text', data: text });
    for (let n = 0; n < 2; n++) {
      await send('/v2/crdt/update', { ...editor, type: 'text', data: `${text} ${n}` });
      const { body } = await send('/v2/crdt/versions/add', { ...editor, name: text });
      versionIds.push(body.result.data.versionId);
    }
  },
  // The editor has the value of the other version.
  data: (n) => ({ ...editor, versionId: versionIds[n % 2] }),
};
