import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { moveDocuments } from '../../../../lib/directory/documentChanges.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import type { OrganizationScope } from '../../../../lib/directory/organizationScope.ts';
import { rootFolderId } from '../../../../lib/directory/rules/folders.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { Id, limits, list } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/move',
    summary: 'Move all given documents, or none, into a folder or to the top level (`root`)',
    description:
      'The documents get the access type of the folder, and the grants on the folder open them. If one document does not exist (NOT_FOUND) or is disabled (FAILED_PRECONDITION), none is moved. `details.issues` names it. The same if one is being migrated to another id, with `details.migrationId`. An unknown folder is NOT_FOUND. To create one, call `/v2/organizations/folders/add`. While users are being removed from a folder, a document does not move into it or out of it: the call is ABORTED with `retry-after`, usually for a minute.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentIds: list(Id, limits.readIds),
      folderId: Id.describe('The folder into which the documents are moved. `root` moves them to the top level.'),
    }),
    output: z.object({}),
    message: 'Documents moved successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableOrganization, folders: readFolders, documents: moveDocuments },
    impact: 'customers cannot move documents between folders',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'], folderId: 'contracts' },
      result: {},
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const findFolder = async (scope: OrganizationScope) =>
      input.folderId === rootFolderId ? undefined : deps.folders.require(scope, input.folderId);
    await deps.documents.move(caller.tenant, organization, input.documentIds, findFolder, now);
    return {};
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
