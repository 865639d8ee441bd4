import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { startErasure } from '../../../../lib/deletion/erasures.ts';
import { readOrganizations } from '../../../../lib/directory/organizations.ts';
import { requireEach } from '../../../../lib/directory/resources.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import * as logMessages from '../../../../lib/observability/logMessages.ts';
import { distinct, distinctBy } from '../../../../lib/shared/collections.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';

const MAX_USERS = 30;

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/data/delete',
    summary:
      'Delete all data of up to 30 users, in the given organizations or in all (GDPR). Further users of the list are ignored',
    description:
      'Profile and access end at once. A job erases the content from a minute later on, also immutable activities. In records of other users, only the `userId` stays. Names in free text, and your own fields without a `userId`, are not found. An unknown organization is INVALID_ARGUMENT, and nothing is deleted. For the progress, call `/v2/users/data/delete/status`.',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({
      userIds: list(Id, limits.list).describe(
        'The users whose data is deleted. Only the first 30 different ids count.',
      ),
      organizationIds: optional(list(Id, limits.readIds)).describe(
        'Where the data is deleted. By default in all organizations, and the profiles too.',
      ),
    }),
    output: z.object({
      data: z.object({
        jobId: z.string().describe('For `/v2/users/data/delete/status`.'),
        tasksCount: z
          .int()
          .describe(
            'The number of tasks: one for each user and organization, and in all organizations one more for each profile.',
          ),
      }),
    }),
    message: 'Data deletion process has been initiated.',
    errors: [],
    uses: { organizations: readOrganizations, startErasure },
    impact: 'customers cannot delete the data of their users, as the law requires',
    example: {
      data: { userIds: ['ada'], organizationIds: ['acme'] },
      result: { data: { jobId: 'job_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', tasksCount: 1 } },
    },
  },
  async ({ input: { userIds, organizationIds }, caller, deps, now, repeatableId, log }) => {
    const { tenant } = caller;
    const organizations =
      organizationIds &&
      requireEach(await deps.organizations.find(tenant, organizationIds), (index) => ['organizationIds', index]);
    const erasure = await deps.startErasure({
      tenant,
      jobId: repeatableId('job', 0),
      userIds: distinct(userIds).slice(0, MAX_USERS),
      organizations: organizations && distinctBy(organizations, ({ internalId }) => internalId),
      now,
      log,
    });
    log.info(logMessages.userErasureStarted, erasure);
    return { data: erasure };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
