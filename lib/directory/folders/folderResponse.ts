import * as z from 'zod';
import { accessTypes } from '../../app/rules/access.ts';
import { defineNamedSchema, defineSchema, Id, optional, PageSize, PageToken } from '../../shared/schema.ts';
import { deepestFolder, rootFolderId } from '../rules/folders.ts';
import type { FolderTree } from './folderTree.ts';

export const FolderQuery = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      organizationId: Id,
      folderId: optional(Id).describe(
        'Returns this folder alone, with its subfolders. By default, or with `root`, the folders at the top level are returned.',
      ),
      maxDepth: optional(z.int().min(1).max(deepestFolder)).describe(
        'How many levels of folders are returned, inside of `folderId` or from the top level on. By default 1.',
      ),
      rootFoldersOnly: optional(z.boolean()).describe(
        'True returns the top level alone, whatever `maxDepth` says. By default false.',
      ),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    })
    .check(
      z.refine(
        ({ rootFoldersOnly, folderId }) => !rootFoldersOnly || folderId === undefined || folderId === rootFolderId,
        { path: ['rootFoldersOnly'], error: 'must not be given together with folderId' },
      ),
    ),
);

export const FolderResponse = /* @__PURE__ */ defineNamedSchema('Folder', () =>
  z
    .object({
      folderId: z.string(),
      folderName: z.string().optional().describe('The title that users see. Absent if it was never set.'),
      organizationId: z.string(),
      parentFolderId: z.string(),
      apiKey: z.string().describe('The API key to which the folder belongs.'),
      createdAt: z.number().describe('When the folder was added, in epoch milliseconds.'),
      lastUpdated: z.number().describe('When the folder was last changed, in epoch milliseconds.'),
      ancestors: z.array(z.string()).describe('The ids of the folders above, from `root` down to the parent.'),
      accessType: z.enum(accessTypes),
      inheritAccessFromParent: z.boolean().describe('Whether `accessType` is that of the parent.'),
      // Subfolders have the same fields. The OpenAPI document does not allow a schema that contains itself.
      subFolders: z
        .array(z.looseObject({ folderId: z.string() }))
        .describe('The folders directly in this one, with the same fields. Empty below `maxDepth`.'),
    })
    .describe('A folder with its subfolders.'),
);
export type FolderResponse = z.output<typeof FolderResponse>;

const OlderFolderResponse = /* @__PURE__ */ defineNamedSchema('V1Folder', () =>
  FolderResponse.omit({
    apiKey: true,
    ancestors: true,
    accessType: true,
    inheritAccessFromParent: true,
  }).describe('A folder with its subfolders, as `/v1` returns it.'),
);
type OlderFolderResponse = z.output<typeof OlderFolderResponse>;

export function toFolderResponse(
  { folder: { internalId: _, accessFrom: __, movedAt: ___, _r, ancestors, ...fields }, subFolders }: FolderTree,
  ids: { readonly organizationId: string; readonly apiKey: string },
): FolderResponse {
  const parents = ancestors.map(({ folderId }) => folderId);
  return {
    ...fields,
    ...ids,
    parentFolderId: parents.at(-1) ?? rootFolderId,
    ancestors: [rootFolderId, ...parents],
    subFolders: subFolders.map((tree) => toFolderResponse(tree, ids)),
  };
}

function toOlderFolderResponse({
  apiKey: _,
  ancestors: __,
  accessType: ___,
  inheritAccessFromParent: ____,
  subFolders,
  ...folder
}: FolderResponse): OlderFolderResponse {
  return { ...folder, subFolders: subFolders.map((subFolder) => toOlderFolderResponse(subFolder as FolderResponse)) };
}

/** A folder that ends one page and begins the next becomes one folder with the subfolders of both. */
function joinFolderPages(rows: readonly FolderResponse[], page: readonly FolderResponse[]): FolderResponse[] {
  const [last, first] = [rows.at(-1), page[0]];
  if (!last || last.folderId !== first?.folderId) return [...rows, ...page];
  return [...rows.slice(0, -1), { ...last, subFolders: [...last.subFolders, ...first.subFolders] }, ...page.slice(1)];
}

export const olderFolderRows = { row: OlderFolderResponse, toRow: toOlderFolderResponse, join: joinFolderPages };
