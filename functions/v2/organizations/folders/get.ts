import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import {
  FolderQuery,
  FolderResponse,
  olderFolderRows,
  toFolderResponse,
} from '../../../../lib/directory/folders/folderResponse.ts';
import { readFolderTrees } from '../../../../lib/directory/folders/folderTree.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { rootFolderId } from '../../../../lib/directory/rules/folders.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { limitPageBytes, paging } from '../../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../../lib/http/twin.ts';
import { limits } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';
import { folderFilter } from '../../../../lib/userTokens/visibleResources.ts';

const path = '/v2/organizations/folders/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the folders of an organization with their subfolders, or one folder with its subfolders',
    description:
      'Without `folderId` and `maxDepth`, the answer has the folders at the top level. User tokens get the folders that the user may read. The top level is PERMISSION_DENIED for a user who is no member of the organization. An unknown folder is NOT_FOUND. For the documents in a folder, call `/v2/organizations/documents/get` with `folderId`.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'selection' }),
    kind: 'read',
    input: FolderQuery,
    output: z.object({ data: z.array(FolderResponse), nextPageToken: z.string().nullable() }),
    message: (_output, { folderId, maxDepth }) =>
      folderId === undefined && maxDepth === undefined
        ? 'Folders retrieved successfully.'
        : 'Folder(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, folders: readFolderTrees },
    narrowBy: 'maxDepth',
    impact: 'customers cannot read their folders',
    example: {
      data: { organizationId: 'acme' },
      result: {
        data: [
          {
            folderId: 'contracts',
            folderName: 'Contracts',
            organizationId: 'acme',
            parentFolderId: 'root',
            apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
            createdAt: 1795300000000,
            lastUpdated: 1795300000000,
            ancestors: ['root'],
            accessType: 'restricted',
            inheritAccessFromParent: false,
            subFolders: [],
          },
        ],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, folderId, pageSize = limits.pageSize } = input;
    const maxDepth = input.rootFoldersOnly ? 1 : (input.maxDepth ?? 1);
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const folder =
        folderId === undefined || folderId === rootFolderId ? undefined : await deps.folders.require(scope, folderId);
      const listing = [path, scope.organizationKey, folder?.internalId ?? rootFolderId, String(maxDepth)];
      const pages = paging(caller, listing, input, now);
      return limitPageBytes(pageSize, async (limit) => {
        const options = { maxDepth, limit, after: pages.after, isVisible: folderFilter(caller) };
        const { values: trees, next } = await deps.folders.readBelow(scope, folder, options);
        const page = folder ? [{ folder, subFolders: trees }] : trees;
        const data = page.map((tree) => toFolderResponse(tree, { organizationId, apiKey: caller.tenant }));
        return { data, nextPageToken: pages.next(next) };
      });
    });
    return content;
  },
);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'folderId',
  differs: 'without pages, one level deep and with fewer fields',
  ignored: ['maxDepth'],
  message: 'Folders retrieved successfully.',
  ...olderFolderRows,
});

export const handler = toLambdaWithTwin(endpoint, twin);
