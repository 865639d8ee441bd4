import * as z from 'zod';
import { type FolderTree, readFolderTrees } from '../../../../lib/directory/folders/folderTree.ts';
import { organizationScope } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { accessTypes } from '../../../../lib/directory/rules/access.ts';
import { deepestFolder, rootFolderId } from '../../../../lib/directory/rules/folders.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../../lib/http/twin.ts';
import { Id, limits, optional, PageSize, PageToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/organizations/folders/get';

const FolderResponse = z.object({
  folderId: z.string(),
  folderName: z.string().optional(),
  organizationId: z.string(),
  parentFolderId: z.string(),
  apiKey: z.string(),
  createdAt: z.number(),
  lastUpdated: z.number(),
  ancestors: z.array(z.string()),
  accessType: z.enum(accessTypes),
  inheritAccessFromParent: z.boolean(),
  // Folders like this one, level by level; a schema that contains itself has no place in the OpenAPI document.
  subFolders: z.array(z.looseObject({ folderId: z.string() })),
});

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the folders of an organization, or one of them, with those beneath',
    auth: 'apiKey',
    kind: 'read',
    input: z
      .object({
        organizationId: Id,
        folderId: optional(Id),
        maxDepth: optional(z.int().min(1).max(deepestFolder)),
        rootFoldersOnly: optional(z.boolean()),
        pageSize: optional(PageSize),
        pageToken: optional(PageToken),
      })
      .check(
        z.refine(
          ({ rootFoldersOnly, folderId }) => !rootFoldersOnly || folderId === undefined || folderId === rootFolderId,
          { path: ['rootFoldersOnly'], error: 'must not be given together with folderId' },
        ),
      ),
    output: z.object({ data: z.array(FolderResponse), nextPageToken: z.string().nullable() }),
    message: (_output, { folderId, maxDepth }) =>
      folderId === undefined && maxDepth === undefined
        ? 'Folders retrieved successfully.'
        : 'Folder(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, folders: readFolderTrees },
    narrowBy: 'pageSize',
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
    const scope = organizationScope(caller.tenant, await deps.organizations.require(caller.tenant, organizationId));
    const folder =
      folderId === undefined || folderId === rootFolderId ? undefined : await deps.folders.require(scope, folderId);
    const pages = paging(
      caller,
      [path, scope.organizationKey, folder?.internalId ?? rootFolderId, String(maxDepth)],
      input,
      now,
    );
    const { trees, next } = await deps.folders.beneath(scope, folder, {
      maxDepth,
      limit: pageSize,
      after: pages.after,
    });
    // A folder that was asked for is shown with a page of those directly in it.
    return { data: (folder ? [{ folder, subFolders: trees }] : trees).map(shown), nextPageToken: pages.next(next) };

    function shown({
      folder: { internalId: _, accessFrom: __, _r, ancestors, ...fields },
      subFolders,
    }: FolderTree): z.output<typeof FolderResponse> {
      const above = [rootFolderId, ...ancestors.map((ancestor) => ancestor.folderId)];
      return {
        ...fields,
        organizationId,
        apiKey: caller.tenant,
        parentFolderId: above.at(-1) as string,
        ancestors: above,
        subFolders: subFolders.map(shown),
      };
    }
  },
);

const {
  apiKey: _key,
  ancestors: _ancestors,
  accessType: _type,
  inheritAccessFromParent: _inherits,
  ...olderFields
} = FolderResponse.shape;

/** A folder as `/v1` shows it. */
const OlderFolder = z.object(olderFields);

function toOlder({
  apiKey: _,
  ancestors: __,
  accessType: ___,
  inheritAccessFromParent: ____,
  subFolders,
  ...folder
}: z.output<typeof FolderResponse>): z.output<typeof OlderFolder> {
  return { ...folder, subFolders: subFolders.map((one) => toOlder(one as z.output<typeof FolderResponse>)) };
}

/** Each page of one folder shows that folder with some more of those directly in it. */
function joinFolders(
  rows: readonly z.output<typeof FolderResponse>[],
  page: readonly z.output<typeof FolderResponse>[],
) {
  const [last, first] = [rows.at(-1), page[0]];
  if (!last || last.folderId !== first?.folderId) return [...rows, ...page];
  return [...rows.slice(0, -1), { ...last, subFolders: [...last.subFolders, ...first.subFolders] }, ...page.slice(1)];
}

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'folderId',
  differs: 'without pages, one level deep and with fewer fields',
  ignored: ['maxDepth'],
  message: 'Folders retrieved successfully.',
  row: OlderFolder,
  toRow: toOlder,
  join: joinFolders,
});

export const handler = toLambdaWithTwin(endpoint, twin);
