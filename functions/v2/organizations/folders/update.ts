import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../lib/app/rules/access.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { changeFolders } from '../../../../lib/directory/folders/folderChanger.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../../lib/shared/results.ts';
import { defineNamedSchema, Id, limits, list, Name, optional } from '../../../../lib/shared/schema.ts';

/** Folders are moved one after the other, so the limit is low. */
const MAX_MOVED_FOLDERS = 30;

const FolderChange = defineNamedSchema('FolderChange', () =>
  z
    .object({
      folderId: Id,
      folderName: optional(Name).describe('The new title that users see.'),
      parentFolderId: Id.nullable().optional().meta({
        description:
          'The folder into which this one is moved. `root` or null moves it to the top level. Without this field, it is not moved.',
      }),
      accessType: optional(z.enum(accessTypes)).describe(
        'The new access type, also for a moved folder. Without this field, a folder with an access type of its own keeps it, and another one inherits that of its parent.',
      ),
    })
    .describe('The fields of a folder to change.'),
);

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/folders/update',
    summary: 'Rename folders, set their access types, and move them with everything in them',
    description:
      'Each folder changes by the fields that it has. A move takes all documents and subfolders along. Changes take effect at once, for calls with user tokens within 10 seconds. A folder fails in its own result (`success: false`) if it or its new parent does not exist, or if it cannot be moved there. A disabled organization refuses the call with FAILED_PRECONDITION. While users are being removed from a folder, nothing moves into it or out of it: the call is ABORTED with `retry-after`, usually for a minute. Its changes before this move stay.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      folders: list(FolderChange, limits.list).check(
        z.refine(
          (folders) => folders.filter(({ parentFolderId }) => parentFolderId !== undefined).length <= MAX_MOVED_FOLDERS,
          { error: `must have at most ${MAX_MOVED_FOLDERS} items with a parentFolderId` },
        ),
      ),
    }),
    output: ItemResults,
    message: batchMessage('folder', 'updated', 'Folder Updated successfully.'),
    errors: ['FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableOrganization, folders: changeFolders },
    impact: 'customers cannot rename or move folders',
    example: {
      data: {
        organizationId: 'acme',
        folders: [{ folderId: 'drafts', folderName: 'Old drafts', parentFolderId: 'root' }],
      },
      result: { data: { drafts: { success: true, id: 'drafts', message: 'Folder Updated.' } } },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const folders = distinctBy(input.folders, ({ folderId }) => folderId);
    const results = await deps.folders.update({ tenant: caller.tenant, organization, now, log }, folders);
    return { data: byIdOf(folders, ({ folderId }) => folderId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
