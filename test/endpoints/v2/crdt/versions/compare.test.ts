import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

const editor = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

let from: string;

describeEndpoint('/v2/crdt/versions/compare', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    await send('/v2/crdt/add', { ...editor, type: 'text', data: mark });
    from = (await send('/v2/crdt/versions/add', { ...editor, name: mark })).body.result.data.versionId;
    await send('/v2/crdt/update', { ...editor, type: 'text', data: `${mark}!` });
  },
  data: () => ({ ...editor, from }),
  get foreignData() {
    return [
      { ...editor, from },
      { ...editor, from, to: from },
    ];
  },
});
