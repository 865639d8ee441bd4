import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { type GroupWithMembers, readGroups } from '../../../../lib/directory/userGroups.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { limitPageBytes, paging } from '../../../../lib/http/paging.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { Id, limits, list, optional, PageSize, PageToken, StoredProfile } from '../../../../lib/shared/schema.ts';

const path = '/v2/organizations/usergroups/get';

const UserResponse = StoredProfile.extend({ userId: z.string() });
const GroupResponse = z.object({
  groupId: z.string().describe('The group, by the id that you chose.'),
  groupName: z.string().optional().describe('The title that users see. Absent if it was never set.'),
  users: z
    .array(UserResponse)
    .optional()
    .describe('The users of the group with their profiles. Only with `includeUsers`.'),
});

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get user groups by id, or the user groups of an organization in pages, optionally with their users',
    description:
      'Groups that do not exist are left out of the answer. With `includeUsers`, `pageSize` counts groups and users together. A group whose users do not fit is on the next page again, with its other users. For one list of the users of several groups, call `/v2/users/get` with `organizationUserGroupIds`.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      organizationId: Id,
      organizationUserGroupIds: optional(list(Id, limits.readIds)),
      includeUsers: optional(z.boolean()).describe('Whether the groups have their users. By default they have not.'),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    }),
    output: z.object({
      data: z.array(GroupResponse).describe('The user groups that exist.'),
      nextPageToken: z.string().nullable(),
    }),
    message: 'Organization user group(s) retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, groups: readGroups },
    narrowBy: 'pageSize',
    impact: 'customers cannot read their user groups',
    example: {
      data: { organizationId: 'acme', organizationUserGroupIds: ['lawyers'], includeUsers: true },
      result: {
        data: [
          {
            groupId: 'lawyers',
            groupName: 'Lawyers',
            users: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', initial: 'A' }],
          },
        ],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const groupIds = input.organizationUserGroupIds && distinct(input.organizationUserGroupIds);
    const { content } = await deps.organizations.readWithin(caller.tenant, input.organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const pages = paging(
        caller,
        [path, scope.organizationKey, JSON.stringify([groupIds, input.includeUsers ?? false])],
        input,
        now,
      );
      const { pageSize = limits.pageSize } = input;
      if (input.includeUsers) {
        return limitPageBytes(pageSize, async (limit) => {
          const options = { limit, after: pages.after };
          const { values: groups, next } = await deps.groups.listWithMembers(scope, groupIds, options);
          return { data: groups.map(toResponse), nextPageToken: pages.next(next) };
        });
      }
      if (groupIds) {
        const groups = await deps.groups.getByIds(scope, groupIds);
        return { data: groups.flatMap((group) => (group ? [toResponse({ group })] : [])), nextPageToken: null };
      }
      const page = await deps.groups.list(scope, { limit: pageSize, after: pages.after });
      return { data: page.values.map((group) => toResponse({ group })), nextPageToken: pages.next(page.next) };
    });
    return content;
  },
);

function toResponse({
  group: { groupId, groupName },
  users,
}: Pick<GroupWithMembers, 'group'> & Partial<GroupWithMembers>): z.output<typeof GroupResponse> {
  return { groupId, groupName, users: users?.map((user) => UserResponse.parse(user)) };
}

export const handler = toLambda(endpoint);
