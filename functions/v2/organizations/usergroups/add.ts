import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { ensureOrganization } from '../../../../lib/content/documentScope.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { writeGroups } from '../../../../lib/directory/userGroups.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../../lib/shared/results.ts';
import { Id, limits, list, Name, optional } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/usergroups/add',
    summary: 'Add user groups to an organization',
    description:
      'A group collects users of the organization, so that you can list them together. A group that exists already fails in its own result (`success: false`) and stays as it is. A disabled organization refuses the call with FAILED_PRECONDITION. To fill the group, call `/v2/organizations/usergroups/users/add`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      createOrganization: optional(z.boolean()),
      organizationUserGroups: list(
        z.object({
          groupId: Id.describe('An id that you choose. It is unique within the organization.'),
          groupName: optional(Name).describe('The title of the group that users see.'),
        }),
        limits.list,
      ).describe('The groups to create, without users.'),
    }),
    output: ItemResults,
    message: batchMessage('organization user group', 'added', 'Organization User Groups added successfully.'),
    errors: ['FAILED_PRECONDITION'],
    uses: { ensureOrganization, groups: writeGroups },
    impact: 'customers cannot add user groups',
    example: {
      data: { organizationId: 'acme', organizationUserGroups: [{ groupId: 'lawyers', groupName: 'Lawyers' }] },
      result: {
        data: {
          lawyers: { success: true, id: 'grp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Organization user group added.' },
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const scope = organizationScope(caller.tenant, await deps.ensureOrganization(caller.tenant, input, now));
    const groups = distinctBy(input.organizationUserGroups, ({ groupId }) => groupId);
    const results = await deps.groups.add(scope, groups, now);
    return { data: byIdOf(groups, ({ groupId }) => groupId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
