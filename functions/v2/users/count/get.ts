import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { readDocuments, refuseArriving } from '../../../../lib/directory/documents.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { missingIssues, requireResource } from '../../../../lib/directory/resources.ts';
import { countUsers } from '../../../../lib/directory/userCounts.ts';
import { documentResource } from '../../../../lib/directory/users.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { dict, distinctBy } from '../../../../lib/shared/collections.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Id, limits, list, notTogether, optional } from '../../../../lib/shared/schema.ts';

const Count = z.object({ count: z.number().describe('The number of users.') });

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/count/get',
    summary: 'Count the users of an organization, a folder, one or several documents, or all documents',
    description:
      'Counts the entries of contact lists, as `/v2/users/get` lists them. Users who were removed a moment ago can still count, unless the call has `userId`. An unknown document or folder is NOT_FOUND. `allDocuments` in an organization with more than 2,000 documents is FAILED_PRECONDITION.',
    auth: 'apiKey',
    kind: 'read',
    input: z
      .object({
        organizationId: Id,
        documentId: optional(Id).describe('Counts the contact list of this document.'),
        documentIds: optional(list(Id, limits.readIds)).describe(
          'Counts the contact list of each of these documents. The answer is a map by document id.',
        ),
        folderId: optional(Id).describe('Counts the contact list of this folder.'),
        allDocuments: optional(z.boolean()).describe(
          'Counts the contact lists of all documents, a user once for each document. By default false.',
        ),
        userId: optional(Id).describe('Counts only this user.'),
      })
      .check(
        notTogether('folderId', 'documentIds'),
        notTogether('documentId', 'documentIds', 'folderId'),
        notTogether('allDocuments', 'documentId', 'documentIds', 'folderId'),
      ),
    output: z.object({
      data: z
        .union([Count, z.record(z.string(), Count)])
        .describe('One count. With `documentIds`, a map by document id.'),
    }),
    message: 'Users count retrieved successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: countUsers },
    impact: 'customers cannot count their users',
    example: { data: { organizationId: 'acme' }, result: { data: { count: 42 } } },
  },
  async ({ input: { organizationId, documentId, documentIds, folderId, allDocuments, userId }, caller, deps }) => {
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => ({
      data: await countIn(organizationScope(caller.tenant, keys)),
    }));
    return content;

    async function countIn(scope: OrganizationScope) {
      if (documentIds) return countOfEach(scope, documentIds);
      if (allDocuments) return { count: await deps.users.ofAllDocuments(scope, userId) };
      return {
        count: await deps.users.of(scope, await requireResource(deps, scope, { documentId, folderId }), userId),
      };
    }

    async function countOfEach(scope: OrganizationScope, ids: readonly string[]) {
      const stored = await deps.documents.getWithFolders(scope, ids);
      refuseArriving(stored);
      const issues = missingIssues(stored, (index) => ['documentIds', index]);
      if (issues.length > 0) throw new ApiError('NOT_FOUND', 'Document does not exist', { details: { issues } });
      const documents = stored.filter((document) => document !== undefined);
      const counts = distinctBy(documents, ({ documentId: id }) => id).map(async (document) => {
        const count = await deps.users.of(scope, documentResource(document), userId);
        return [document.documentId, { count }] as const;
      });
      return dict(await Promise.all(counts));
    }
  },
);

export const handler = toLambda(endpoint);
