import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { removeUsers } from '../../../lib/deletion/removeUsers.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { readFolders } from '../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { requireResource } from '../../../lib/directory/resources.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemOutcome } from '../../../lib/shared/results.ts';
import { documentOrFolder, Id, limits, list, optional, userContext } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/delete',
    summary: 'Remove users, with their access and content, from an organization, a document or a folder',
    description:
      'Access and entries in contact lists end at once, for calls with user tokens within 10 seconds. A job deletes the threads of the users. Comments in threads of others stay with the `userId` of their author only. An unknown user fails in its own result (`success: false`). An unknown document or folder is NOT_FOUND. To take only access away, call `/v2/auth/permissions/remove`; to erase all data of users, `/v2/users/data/delete`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        documentId: optional(Id).describe('Removes the users from this document only.'),
        folderId: optional(Id).describe('Removes the users from this folder with everything in it only.'),
        userIds: list(Id, limits.list),
        context: userContext,
      })
      .check(documentOrFolder),
    output: z.object({ data: z.record(z.string(), ItemOutcome).describe('The result for each user, by user id.') }),
    message: batchMessage('user', 'deleted'),
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: {
      organizations: findOrganization,
      folders: readFolders,
      documents: readDocuments,
      users: removeUsers,
    },
    impact: 'customers cannot remove users from their organizations, documents and folders',
    example: {
      data: { organizationId: 'acme', userIds: ['ada', 'nobody'] },
      result: {
        data: {
          ada: { success: true, message: 'User removed.' },
          nobody: { success: false, message: 'User does not exist.' },
        },
      },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const organization = await deps.organizations.require(caller.tenant, input.organizationId);
    const resource = await requireResource(deps, organizationScope(caller.tenant, organization), input);
    const userIds = distinct(input.userIds);
    const results = await deps.users.remove({ tenant: caller.tenant, organization, resource, userIds, now, log });
    return { data: byId(userIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
