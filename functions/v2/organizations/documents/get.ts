import * as z from 'zod';
import { matches, searchDocuments } from '../../../../lib/directory/documentSearch.ts';
import { readDocuments } from '../../../../lib/directory/documents.ts';
import { organizationScope, readFolders } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { DocumentResponse, toDocumentResponse } from '../../../../lib/directory/rules/documentResponse.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';
import { maySeeDocument as maySee } from '../../../../lib/userTokens/visibleResources.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../../lib/http/twin.ts';
import { Id, limits, list, MetadataFilters, optional, PageSize, PageToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/organizations/documents/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get documents by id, or a page of those of an organization or a folder, optionally filtered by metadata',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'selection' }),
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentIds: optional(list(Id, limits.readIds)),
      folderId: optional(Id),
      filters: optional(MetadataFilters),
      orderByCommentViews: optional(
        z.boolean().check(
          z.refine((isAsked) => !isAsked, {
            error:
              'must not be true: this service does not record who viewed comments, so documents have no such order',
          }),
        ),
      ),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    }),
    output: z.object({ data: z.array(DocumentResponse), pageToken: z.string().nullable() }),
    message: 'Document(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, search: searchDocuments },
    narrowBy: 'pageSize',
    impact: 'customers cannot read their documents',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'] },
      result: {
        data: [
          {
            id: 'nda',
            documentName: 'NDA',
            disabled: false,
            accessType: 'restricted',
            folderId: 'contracts',
            metadata: { version: 3 },
          },
        ],
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const scope = organizationScope(
      caller.tenant,
      await deps.organizations.require(caller.tenant, input.organizationId),
    );
    if (input.documentIds) {
      const documents = await deps.documents.attachFolders(
        scope,
        await deps.documents.getByIds(scope, distinct(input.documentIds)),
      );
      const matching = documents
        .filter((document) => document !== undefined)
        .filter(({ folder }) => input.folderId === undefined || folder?.folderId === input.folderId)
        .filter((document) => !input.filters || matches(input.filters, document));
      return { data: matching.filter(maySee(caller)).map(toDocumentResponse), pageToken: null };
    }
    const pages = paging(
      caller,
      [path, scope.organizationKey, input.folderId ?? '', ...(input.filters ? [JSON.stringify(input.filters)] : [])],
      input,
      now,
    );
    const options = { limit: input.pageSize ?? limits.pageSize, after: pages.after };
    const folder = input.folderId === undefined ? undefined : await deps.folders.require(scope, input.folderId);
    const page = await readPage();
    return { data: page.values.filter(maySee(caller)).map(toDocumentResponse), pageToken: pages.next(page.next) };

    async function readPage() {
      if (input.filters) return deps.search.page({ scope, folder }, input.filters, options);
      return folder ? deps.documents.listInFolder(scope, folder, options) : deps.documents.list(scope, options);
    }
  },
);

export const twin = defineUnpagedTwin(endpoint, { narrowBy: 'documentIds', row: DocumentResponse });

export const handler = toLambdaWithTwin(endpoint, twin);
