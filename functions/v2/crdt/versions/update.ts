import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { versionEditor, versionFields, VersionId, VersionResponse } from '../../../../lib/editors/rules/versions.ts';
import { renameVersion } from '../../../../lib/editors/versions/renameVersion.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/versions/update',
    summary: 'Change the name or the data of a version of a collaborative editor',
    description:
      'Sent fields replace the stored ones, and others stay. An automatic version that gets a name stays like every named one, if `keepNamed` of the API key is not false. ' +
      'For an API key, or a user token with the role editor on the document. An unknown editor, version or document is NOT_FOUND, a disabled document FAILED_PRECONDITION. The 201st named version of an editor is RESOURCE_EXHAUSTED.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document' }),
    kind: 'write',
    limitClass: 'expensive',
    input: z
      .object({ ...versionEditor, versionId: VersionId, ...versionFields })
      .check(requireChange(['name', 'metadata'], 'name or metadata is required')),
    output: z.object({ data: z.object({ versionId: VersionResponse.shape.versionId }) }),
    message: 'Version updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { renameVersion },
    impact: 'users cannot name versions of their editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        name: 'Signed',
      },
      result: { data: { versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
    cost: { calls: 6, roundTrips: 4, readUnits: 5, writeUnits: 1 },
  },
  async ({ input: { versionId, name, metadata, ...editor }, caller, deps }) => {
    const change = { name, metadata: metadata && JSON.stringify(metadata) };
    await deps.renameVersion(caller.tenant, { ...editor, versionId }, change);
    return { data: { versionId } };
  },
);

export const handler = toLambda(endpoint);
