import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { type DocumentWithFolder, readDocuments, refuseArriving } from '../../../../lib/directory/documents.ts';
import { matches, searchDocuments } from '../../../../lib/directory/documentSearch.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { DocumentQuery, DocumentResponse, toDocumentResponse } from '../../../../lib/directory/rules/documents.ts';
import { rootFolderId } from '../../../../lib/directory/rules/folders.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../../lib/http/twin.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { limits } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';
import { maySeeDocument } from '../../../../lib/userTokens/visibleResources.ts';

const path = '/v2/organizations/documents/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get documents by id, or those of an organization or folder in pages, optionally filtered by metadata',
    description:
      'Documents that do not exist, or that do not meet the other conditions of the call, are left out of the answer. With `filters`, a page looks at about 2,000 documents, so it can be short or empty and still have a `pageToken`. Without `filters`, this can happen too, such as while documents are being migrated to another id. Read until `pageToken` is null. User tokens get the documents that the user may read. The top level and the whole organization are PERMISSION_DENIED for a user who is no member of it. An unknown folder is NOT_FOUND.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'selection' }),
    kind: 'read',
    input: DocumentQuery,
    output: z.object({
      data: z.array(DocumentResponse),
      pageToken: z.string().nullable().describe('Continues the listing. Null after the last page.'),
    }),
    message: 'Document(s) retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
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
    const { organizationId, documentIds, folderId, filters, pageSize = limits.pageSize } = input;
    const isVisible = maySeeDocument(caller);
    const isAtTop = folderId === rootFolderId;
    const isMatch = (document: DocumentWithFolder) =>
      (folderId === undefined || folderId === (document.folder?.folderId ?? rootFolderId)) &&
      (!filters || matches(filters, document)) &&
      isVisible(document);
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      return documentIds ? readByIds(scope, distinct(documentIds)) : readPage(scope);
    });
    return content;

    async function readByIds(scope: OrganizationScope, ids: readonly string[]) {
      const documents = await deps.documents.getWithFolders(scope, ids);
      refuseArriving(documents);
      const existing = documents.filter((document) => document !== undefined);
      return { data: existing.filter(isMatch).map(toDocumentResponse), pageToken: null };
    }

    async function readPage(scope: OrganizationScope) {
      const listing = [path, scope.organizationKey, folderId ?? '', ...(filters ? [JSON.stringify(filters)] : [])];
      const pages = paging(caller, listing, input, now);
      const folder = folderId === undefined || isAtTop ? undefined : await deps.folders.require(scope, folderId);
      // With a filter, a page reads on after documents that the user may not see. Otherwise short pages would tell how
      // many there are.
      const filter = filters || isAtTop || caller.level === 'user' ? isMatch : undefined;
      const page = { limit: pageSize, after: pages.after };
      const { values, next } = await deps.search.page({ scope, folder }, filter, page);
      return { data: values.map(toDocumentResponse), pageToken: pages.next(next) };
    }
  },
);

export const twin = defineUnpagedTwin(endpoint, { narrowBy: 'documentIds', row: DocumentResponse });

export const handler = toLambdaWithTwin(endpoint, twin);
