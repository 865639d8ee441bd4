import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../lib/app/rules/access.ts';
import { ensureOrganization } from '../../../../lib/content/documentScope.ts';
import { folderBoundaries } from '../../../../lib/directory/folderBoundaries.ts';
import { writeFolders } from '../../../../lib/directory/folders/folders.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../../lib/shared/results.ts';
import { Id, limits, list, Name, optional } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/folders/add',
    summary: 'Create folders',
    description:
      'The list can have parents and their subfolders in any order. A folder fails in its own result (`success: false`) if it exists already, if its parent does not exist, or if it would be more than 20 levels deep. A disabled organization refuses the call with FAILED_PRECONDITION. To move documents into a folder, call `/v2/organizations/documents/move`. While users are being removed from a folder, a call that would put a folder which exists inside it elsewhere, or the reverse, is ABORTED with `retry-after`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      createOrganization: optional(z.boolean()),
      folders: list(
        z.object({
          folderId: Id,
          folderName: optional(Name).describe('The title that users see.'),
          parentFolderId: optional(Id).describe(
            'The folder into which this one is put. It can be in the same list. By default, or with `root`, the folder is at the top level.',
          ),
          accessType: optional(z.enum(accessTypes)).describe(
            'Who can open the documents in the folder without a grant. By default the folder inherits the access type of its parent; at the top level it is `public`.',
          ),
        }),
        limits.list,
      ).describe('The folders to create.'),
    }),
    output: ItemResults,
    message: batchMessage('folder', 'created', 'Folder created successfully.'),
    errors: ['FAILED_PRECONDITION', 'ABORTED'],
    uses: { ensureOrganization, boundaries: folderBoundaries, folders: writeFolders },
    impact: 'customers cannot create folders',
    example: {
      data: {
        organizationId: 'acme',
        createOrganization: true,
        folders: [
          { folderId: 'contracts', folderName: 'Contracts', accessType: 'restricted' },
          { folderId: 'drafts', parentFolderId: 'contracts' },
        ],
      },
      result: {
        data: {
          contracts: { success: true, id: 'contracts', message: 'Folder added.' },
          drafts: { success: true, id: 'drafts', message: 'Folder added.' },
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const scope = organizationScope(caller.tenant, await deps.ensureOrganization(caller.tenant, input, now));
    const folders = distinctBy(input.folders, ({ folderId }) => folderId);
    await deps.boundaries.refuseFolders(scope, folders, now);
    const results = await deps.folders.add(scope, folders, now);
    return { data: byIdOf(folders, ({ folderId }) => folderId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
