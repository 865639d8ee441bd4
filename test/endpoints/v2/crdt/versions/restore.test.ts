import { describeEndpoint } from '../../../../support/describeEndpoint.ts';

const editor = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

const versionIds: string[] = [];

describeEndpoint('/v2/crdt/versions/restore', {
  documents: ['nda'],
  prepare: async (send, mark) => {
    await send('/v2/crdt/add', { ...editor, type: 'text', data: mark });
    for (let n = 0; n < 2; n++) {
      await send('/v2/crdt/update', { ...editor, type: 'text', data: `${mark} ${n}` });
      const { body } = await send('/v2/crdt/versions/add', { ...editor, name: mark });
      versionIds.push(body.result.data.versionId);
    }
  },
  // The editor has the value of the other version.
  data: (n) => ({ ...editor, versionId: versionIds[n % 2] }),
  get foreignData() {
    return [{ ...editor, versionId: versionIds[0] }];
  },
});
