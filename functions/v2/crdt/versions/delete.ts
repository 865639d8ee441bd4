import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { versionEditor, VersionId } from '../../../../lib/editors/rules/versions.ts';
import { findWritableEditor } from '../../../../lib/editors/versions/findVersions.ts';
import { changeVersions } from '../../../../lib/editors/versions/versionStore.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemOutcome } from '../../../../lib/shared/results.ts';
import { list } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/versions/delete',
    summary: 'Delete versions of a collaborative editor',
    description:
      'The editor itself does not change. Each version has its own result in `data`, by its id. If an id is unknown, its result says so, and the other versions are deleted. ' +
      'For an API key, or a user token with the role editor on the document. An unknown editor or document is NOT_FOUND, a disabled document FAILED_PRECONDITION.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document' }),
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({
      ...versionEditor,
      versionIds: list(VersionId, 100).describe('The versions to delete.'),
    }),
    output: z.object({
      data: z.record(z.string(), ItemOutcome).describe('The result for each version, by its id.'),
    }),
    message: batchMessage('version', 'deleted', () => 'Version(s) deleted successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableEditor, versions: changeVersions },
    impact: 'users cannot delete versions of their editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        versionIds: ['ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ'],
      },
      result: { data: { ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ: { success: true, message: 'Version deleted.' } } },
    },
    cost: { calls: 8, roundTrips: 7, readUnits: 6, writeUnits: 2 },
  },
  async ({ input: { versionIds, ...reference }, caller, deps }) => {
    const { editor } = await deps.findWritableEditor(caller.tenant, reference);
    const ids = distinct(versionIds);
    return { data: byId(ids, await deps.versions.delete(editor, ids)) };
  },
);

export const handler = toLambda(endpoint);
