import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { findOrganization } from '../../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { memberRemoved, removeGroupMembers } from '../../../../../lib/directory/userGroups.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { batchMessage, GroupResults, toGroupResults } from '../../../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v1/organizations/usergroups/users/delete',
    summary: 'Delete the given users, or all users, from a user group',
    description:
      'The users stay in the organization and keep their access. A user who is not in the group fails in its own result (`success: false`). An unknown group is INVALID_ARGUMENT. UNAVAILABLE means that a large group still has users: send the call again. To remove users from the organization, call `/v2/users/delete`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        organizationUserGroupId: Id,
        userIds: optional(list(Id, limits.list, 0)),
        deleteAll: optional(z.boolean()).describe(
          'True deletes all users from the group, instead of those in `userIds`. By default false.',
        ),
      })
      .check(
        z.refine(({ userIds = [], deleteAll }) => deleteAll === true || userIds.length > 0, {
          path: ['userIds'],
          error: 'must not be empty unless deleteAll is true',
        }),
        z.refine(({ userIds = [], deleteAll }) => deleteAll !== true || userIds.length === 0, {
          path: ['userIds'],
          error: 'must not be given together with deleteAll',
        }),
      ),
    output: GroupResults,
    message: batchMessage('user', 'deleted from the group', 'Deleted users from group successfully.'),
    errors: [],
    uses: { organizations: findOrganization, members: removeGroupMembers },
    impact: 'customers cannot delete users from their user groups',
    example: {
      data: { organizationId: 'acme', organizationUserGroupId: 'lawyers', userIds: ['ada'] },
      result: {
        data: {
          ada: {
            success: true,
            organizationUserGroupId: 'lawyers',
            message: 'User deleted from organization user group.',
          },
        },
      },
    },
  },
  async ({ input: { organizationId, organizationUserGroupId, userIds = [], deleteAll = false }, caller, deps }) => {
    const scope = organizationScope(caller.tenant, await deps.organizations.require(caller.tenant, organizationId));
    const group = await deps.members.require(scope, organizationUserGroupId);
    if (deleteAll) {
      const removedIds = await deps.members.removeAll(scope, group);
      return toGroupResults(
        organizationUserGroupId,
        removedIds,
        removedIds.map(() => memberRemoved),
      );
    }
    const ids = distinct(userIds);
    const results = await deps.members.remove(scope, group, ids);
    return toGroupResults(organizationUserGroupId, ids, results);
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
