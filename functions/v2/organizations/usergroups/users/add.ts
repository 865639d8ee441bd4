import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../../lib/content/documentScope.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { writeGroups } from '../../../../../lib/directory/userGroups.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { batchMessage, GroupResults, toGroupResults } from '../../../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/usergroups/users/add',
    summary: 'Add users to a user group',
    description:
      'A user who is in the group already succeeds without a change. A user who does not exist fails in its own result (`success: false`): call `/v2/users/add` first. An unknown group is NOT_FOUND. A disabled organization refuses the call with FAILED_PRECONDITION.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizationId: Id, organizationUserGroupId: Id, userIds: list(Id, limits.list) }),
    output: GroupResults,
    message: batchMessage('user', 'added to the group', 'Added organization users to group successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableOrganization, groups: writeGroups },
    impact: 'customers cannot add users to their user groups',
    example: {
      data: { organizationId: 'acme', organizationUserGroupId: 'lawyers', userIds: ['ada'] },
      result: {
        data: {
          ada: { success: true, organizationUserGroupId: 'lawyers', message: 'User added to organization user group.' },
        },
      },
    },
  },
  async ({ input: { organizationId, organizationUserGroupId, userIds }, caller, deps, now }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, organizationId);
    const ids = distinct(userIds);
    const results = await deps.groups.addMembers(
      organizationScope(caller.tenant, organization),
      organizationUserGroupId,
      ids,
      now,
    );
    return toGroupResults(organizationUserGroupId, ids, results);
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
