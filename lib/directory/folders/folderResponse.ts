import * as z from 'zod';
import { defineNamedSchema } from '../../shared/schema.ts';
import { accessTypes } from '../rules/access.ts';
import { rootFolderId } from '../rules/folders.ts';
import type { FolderTree } from './folderTree.ts';

export const FolderResponse = /* @__PURE__ */ defineNamedSchema('Folder', () =>
  z.object({
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
    // Subfolders have the same fields as this folder. Only `folderId` is declared, because the OpenAPI document does not allow a
    // schema that contains itself.
    subFolders: z.array(z.looseObject({ folderId: z.string() })),
  }),
);
export type FolderResponse = z.output<typeof FolderResponse>;

/** A folder in responses of `/v1`. */
const OlderFolderResponse = /* @__PURE__ */ defineNamedSchema('V1Folder', () =>
  FolderResponse.omit({
    apiKey: true,
    ancestors: true,
    accessType: true,
    inheritAccessFromParent: true,
  }),
);
type OlderFolderResponse = z.output<typeof OlderFolderResponse>;

/** Returns a folder and its subfolders in the form of responses. */
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

/** Returns a folder in the form of `/v1` responses, which have fewer fields. */
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

/** Joins two pages of folders. If a folder ends one page and begins the next, it becomes one folder with the subfolders of both. */
function joinFolderPages(rows: readonly FolderResponse[], page: readonly FolderResponse[]): FolderResponse[] {
  const [last, first] = [rows.at(-1), page[0]];
  if (!last || last.folderId !== first?.folderId) return [...rows, ...page];
  return [...rows.slice(0, -1), { ...last, subFolders: [...last.subFolders, ...first.subFolders] }, ...page.slice(1)];
}

/** How `/v1` returns folders: all pages in one response, with fewer fields per folder. */
export const olderFolderRows = { row: OlderFolderResponse, toRow: toOlderFolderResponse, join: joinFolderPages };
