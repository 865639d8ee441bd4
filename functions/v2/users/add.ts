import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { ensureOrganization } from '../../../lib/content/documentScope.ts';
import { writeDocuments } from '../../../lib/directory/documents.ts';
import { writeFolders } from '../../../lib/directory/folders/folders.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { ensureResource } from '../../../lib/directory/resources.ts';
import { UserWithRole } from '../../../lib/directory/rules/users.ts';
import { writeUsers } from '../../../lib/directory/userWriter.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../lib/shared/results.ts';
import { documentOrFolder, Id, limits, list, optional, userContext } from '../../../lib/shared/schema.ts';
import { newDocumentAccess } from '../../../lib/workspaces/configs/apiKeyConfig.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/add',
    summary: 'Add users to an organization, or to one of its documents or folders',
    description:
      'Creates missing users, changes the profiles of existing ones by the sent fields, gives them access, and puts them on the contact list of the organization, document or folder. A user fails in its own result (`success: false`) if `email` cannot receive mail. An unknown document or folder is NOT_FOUND, unless the call creates it. A disabled organization or document refuses the call with FAILED_PRECONDITION. For grants that end, or with an access context, call `/v2/auth/permissions/add`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        createOrganization: optional(z.boolean()),
        documentId: optional(Id).describe(
          'Adds the users to this document. Without a document and a folder, they are added to the organization.',
        ),
        createDocument: optional(z.boolean()),
        folderId: optional(Id).describe('Adds the users to this folder, which opens everything in it to them.'),
        createFolder: optional(z.boolean()),
        parentFolderId: optional(Id).describe(
          'The parent of the folder that `createFolder` creates. By default it is created at the top level.',
        ),
        context: userContext,
        users: list(UserWithRole, limits.list),
      })
      .check(
        documentOrFolder,
        z.refine(
          ({ documentId, folderId, createDocument, createFolder }) =>
            documentId !== undefined || folderId !== undefined || !(createDocument || createFolder),
          {
            error:
              'must have documentId or folderId if createDocument or createFolder is true. Otherwise the users would be added to the organization',
          },
        ),
        z.refine(
          ({ parentFolderId, folderId, createFolder }) =>
            parentFolderId === undefined || (folderId !== undefined && createFolder === true),
          {
            path: ['parentFolderId'],
            error:
              'must be given together with folderId and createFolder: true, because it is the parent of the folder that the call creates',
          },
        ),
      ),
    output: ItemResults,
    message: batchMessage('user', 'added', 'User(s) processed successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: {
      ensureOrganization,
      folders: writeFolders,
      documents: writeDocuments,
      users: writeUsers,
      newDocumentAccess,
    },
    impact: 'customers cannot add users',
    example: {
      data: { organizationId: 'acme', users: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' }] },
      result: { data: { ada: { success: true, id: 'usr_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'User added.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const createsDocument = input.documentId !== undefined && input.createDocument === true;
    const [organization, accessType] = await Promise.all([
      deps.ensureOrganization(caller.tenant, input, now),
      createsDocument ? deps.newDocumentAccess(caller.tenant) : undefined,
    ]);
    const scope = organizationScope(caller.tenant, organization);
    const resource = await ensureResource(deps, scope, input, accessType && { accessType }, now);
    const users = distinctBy(input.users, ({ userId }) => userId).map(({ userId, accessRole, ...profile }) => ({
      userId,
      accessRole,
      profile,
    }));
    const results = await deps.users.add(scope, resource, users, now);
    return { data: byIdOf(users, ({ userId }) => userId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
