import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { countDocuments } from '../../../../../lib/directory/documentCounts.ts';
import { matches, searchDocuments } from '../../../../../lib/directory/documentSearch.ts';
import { readFolders } from '../../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { rootFolderId } from '../../../../../lib/directory/rules/folders.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { Id, MetadataFilters, notTogether, optional } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/count/get',
    summary:
      'Count the documents of an organization: all, those directly in a folder, those in no folder, or those with given metadata',
    description:
      'If too many documents would have to be compared with `filters`, the count ignores them, and `filtersApplied` is false. An unknown folder is NOT_FOUND. For the documents themselves, call `/v2/organizations/documents/get`.',
    auth: 'apiKey',
    kind: 'read',
    input: z
      .object({
        organizationId: Id,
        folderId: optional(Id).describe(
          'Counts the documents directly in this folder. `root` counts those at the top level.',
        ),
        filters: optional(MetadataFilters),
        excludeFolderDocs: optional(z.boolean()).describe(
          'Whether only documents at the top level count. By default documents in folders count too.',
        ),
      })
      .check(notTogether('excludeFolderDocs', 'filters', 'folderId')),
    output: z.object({
      data: z.object({
        count: z.int().describe('The number of documents.'),
        filtersApplied: z
          .boolean()
          .optional()
          .describe(
            'False if there are too many documents to compare (10,000, or 32 MB of metadata), so that `count` ignores `filters`. Absent without `filters`.',
          ),
      }),
    }),
    message: 'Documents count retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, folders: readFolders, documents: countDocuments, search: searchDocuments },
    impact: 'customers cannot count their documents',
    example: {
      data: { organizationId: 'acme' },
      result: { data: { count: 42 } },
    },
  },
  async ({ input: { organizationId, folderId, filters, excludeFolderDocs }, caller, deps }) => {
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const isAtTop = folderId === rootFolderId;
      if (filters) {
        const folder = folderId === undefined || isAtTop ? undefined : await deps.folders.require(scope, folderId);
        const count = await deps.search.count(
          { scope, folder },
          (document) => matches(filters, document) && (!isAtTop || document.folder === undefined),
        );
        if (count !== undefined) return { data: { count, filtersApplied: true } };
      }
      const count =
        folderId === undefined || isAtTop
          ? await deps.documents.all(scope, { outsideFolders: isAtTop || excludeFolderDocs })
          : await deps.documents.inFolder(scope, folderId);
      return { data: { count, ...(filters && { filtersApplied: false }) } };
    });
    return content;
  },
);

export const handler = toLambda(endpoint);
