import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { changeFolders } from '../../../../lib/directory/folders/folderChanger.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/folders/delete',
    summary: 'Delete a folder with everything in it',
    description:
      'Deletes the subfolders and documents in the folder too, to any depth. When the call has answered, nothing in the folder can be reached. A job removes the stored data from a minute later on. An unknown folder is NOT_FOUND. The call also works in a disabled organization.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizationId: Id, folderId: Id }),
    output: z.object({ data: z.null() }),
    message: 'Folder deletion initiated successfully.',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { organizations: findOrganization, folders: changeFolders },
    impact: 'customers cannot delete folders',
    example: {
      data: { organizationId: 'acme', folderId: 'drafts' },
      result: { data: null },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const organization = await deps.organizations.require(caller.tenant, input.organizationId);
    await deps.folders.delete({ tenant: caller.tenant, organization, now, log }, input.folderId);
    return { data: null };
  },
);

export const handler = toLambda(endpoint);
