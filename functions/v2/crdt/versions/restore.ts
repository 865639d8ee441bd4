import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { changeEditor } from '../../../../lib/editors/changeEditor.ts';
import { authorFields } from '../../../../lib/editors/rules/editors.ts';
import { versionEditor, VersionId } from '../../../../lib/editors/rules/versions.ts';
import { type Restored, restoreVersion } from '../../../../lib/editors/versions/restoreVersion.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/versions/restore',
    summary: 'Give a collaborative editor the value of a version again',
    description:
      'The restore is an ordinary change: open editors get it at once, edits that were not sent yet are merged with it, and every user can still undo own edits. ' +
      'In the same step, the state before is kept as an automatic version with the name "Before restore", for at least 30 days. If the editor has the value already, nothing is written, and `keptVersionId` is null. ' +
      'For an API key, or a user token with the role editor on the document. An unknown editor, version or document is NOT_FOUND. A disabled document is FAILED_PRECONDITION. ' +
      'So is a version that cannot be restored: the message has the reason, and nothing changes. Without room for the kept version, the call is RESOURCE_EXHAUSTED. After ABORTED, repeat the call. Events: `crdt.version_restore`, and `crdt.update_data` about five seconds later.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document', actor: [{ path: 'userId', holds: 'userId' }] }),
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({ ...versionEditor, versionId: VersionId, ...authorFields }),
    output: z.object({
      data: z.object({
        restoredVersionId: z.string().describe('The version of the request.'),
        keptVersionId: z
          .string()
          .nullable()
          .describe('The version with the state before. Null if the editor had the value of the version already.'),
      }),
    }),
    message: 'Version restored successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { changeEditor, restoreVersion },
    impact: 'users cannot go back to versions of their editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        userId: 'ada',
      },
      result: {
        data: {
          restoredVersionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
          keptVersionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEK',
        },
      },
    },
    cost: { calls: 9, roundTrips: 8, readUnits: 9, writeUnits: 9 },
  },
  async ({ input, caller, deps, now, log, repeatableId }) => {
    const { editorId, versionId } = input;
    let kept: Restored['keptVersionId'];
    const request = { editorId, versionId, keptVersionId: repeatableId('ver', 0), log };
    const change = deps.restoreVersion(request, (restored) => {
      kept = restored.keptVersionId;
    });
    await deps.changeEditor(caller.tenant, input, change, { now, log });
    return { data: { restoredVersionId: versionId, keptVersionId: kept ?? null } };
  },
);

export const handler = toLambda(endpoint);
