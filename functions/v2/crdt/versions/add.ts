import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { versionEditor, versionFields, VersionResponse } from '../../../../lib/editors/rules/versions.ts';
import { addVersion } from '../../../../lib/editors/versions/addVersion.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

const { versionId, authors, createdAt } = VersionResponse.shape;

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/versions/add',
    summary: 'Keep the present state of a collaborative editor as a version',
    description:
      'The version has everything that the service had stored when it was made. With a name, it stays until you delete it. Without one, it counts as an automatic version. ' +
      'For an API key, or a user token with the role editor on the document. An unknown editor or document is NOT_FOUND, a disabled document FAILED_PRECONDITION. ' +
      'The 201st named version of an editor is RESOURCE_EXHAUSTED. Above 64 MB, the oldest automatic versions are deleted, and if that is not enough, the call is RESOURCE_EXHAUSTED. After ABORTED, because other calls change the editor, repeat the call.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document' }),
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({ ...versionEditor, ...versionFields }),
    output: z.object({ data: z.object({ versionId, createdAt, authors }) }),
    message: 'Version added successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { addVersion },
    impact: 'users cannot keep versions of their editors',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorId: 'summary', name: 'Sent to the client' },
      result: {
        data: {
          versionId: 'ver_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
          createdAt: '2026-01-01T00:00:00.000Z',
          authors: ['ada', 'grace'],
        },
      },
    },
    cost: { calls: 8, roundTrips: 6, readUnits: 6, writeUnits: 5 },
  },
  async ({ input: { name, metadata, ...editor }, caller, deps, now, repeatableId, log }) => {
    const version = await deps.addVersion(caller.tenant, editor, {
      versionId: repeatableId('ver', 0),
      name,
      metadata: metadata && JSON.stringify(metadata),
      isAutomatic: name === undefined,
      now,
      log,
    });
    return {
      data: {
        versionId: version.versionId,
        createdAt: new Date(version.createdAt).toISOString(),
        authors: version.authors,
      },
    };
  },
);

export const handler = toLambda(endpoint);
