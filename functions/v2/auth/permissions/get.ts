import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { readDocuments, refuseArriving } from '../../../../lib/directory/documents.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { PermissionsQuery, UserPermissions } from '../../../../lib/directory/rules/permissions.ts';
import { isExistingUser, readUsers } from '../../../../lib/directory/users.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { dict, distinct } from '../../../../lib/shared/collections.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';
import { isStranger, permissionsOf, permissionsOfStranger } from '../../../../lib/userTokens/visibleResources.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/permissions/get',
    summary: "Get users' permissions on an organization, folders and documents",
    description:
      'Returns one entry for each user and resource. An entry without access has an `errorCode`. The nearest grant decides: on the document, then on the folders above it. Without a grant, the access type decides. With the API key, an unknown folder or document makes the call NOT_FOUND; `details` has the entries. With user tokens, users get their own entries, and unknown and forbidden resources look the same.',
    auth: 'apiKey',
    user: openToUsers({
      needs: 'self',
      on: 'organization',
      answersStrangers: true,
      actor: [{ path: 'userIds', holds: 'userIds' }],
    }),
    kind: 'read',
    input: PermissionsQuery,
    output: z.object({
      data: z.record(z.string(), UserPermissions).describe('The permissions of each user, by user id.'),
    }),
    message: 'User permissions retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: readUsers },
    narrowBy: 'userIds',
    impact: 'customers cannot check permissions, and their applications may refuse all users',
    example: {
      data: { organizationId: 'acme', userIds: ['ada'], documentIds: ['nda'] },
      result: {
        data: {
          ada: {
            documents: { nda: { accessRole: 'viewer', accessType: 'restricted', expiresAt: 1893456000 } },
            organization: { acme: { accessRole: 'editor' } },
            context: { accessFields: ['region:eu', 'region:us'] },
          },
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const userIds = distinct(input.userIds);
    const [folderIds, documentIds] = [distinct(input.folderIds ?? []), distinct(input.documentIds ?? [])];
    if (isStranger(caller))
      return { data: permissionsOfStranger(input.organizationId, userIds, folderIds, documentIds) };
    // For a user token, `permissionsOf` uses the access that the check of the token has read, so no users and grants
    // are read here.
    const readIds = caller.level === 'user' ? [] : userIds;
    const { organization, content } = await deps.organizations.readWithin(
      caller.tenant,
      input.organizationId,
      async (keys) => {
        const scope = organizationScope(caller.tenant, keys);
        const [users, grants, folders, documents] = await Promise.all([
          deps.users.find(caller.tenant, readIds),
          Promise.all(readIds.map((userId) => deps.users.grants(scope, userId))),
          deps.folders.getByIds(scope, folderIds),
          deps.documents.getWithFolders(scope, documentIds),
        ]);
        refuseArriving(documents);
        return { users, grants, folders, documents };
      },
    );
    const { users, grants, folders, documents } = content;
    const resources = {
      organization,
      folders: folderIds.map((id, index) => ({ id, folder: folders[index] })),
      documents: documentIds.map((id, index) => ({ id, document: documents[index] })),
    };
    const data = dict(
      userIds.map((userId, index) => {
        const user = {
          exists: isExistingUser(users[index]),
          organizationKey: organization.internalId,
          grants: grants[index] ?? [],
          revocations: users[index]?.revocations,
          now: now / 1000,
        };
        return [userId, permissionsOf(caller, user, resources)] as const;
      }),
    );
    const allExist = [...folders, ...documents].every((resource) => resource !== undefined);
    if (!allExist && !input.skipResourceExistenceValidation && caller.level !== 'user')
      throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: data });
    return { data };
  },
);

export const handler = toLambda(endpoint);
