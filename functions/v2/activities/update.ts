import * as z from 'zod';
import { updateActivities } from '../../../lib/activities/activityWriter.ts';
import { ActivityChange, requireActivityLogsMutable } from '../../../lib/activities/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../lib/content/documentScope.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemOutcome } from '../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../lib/shared/schema.ts';
import { readActivityConfig } from '../../../lib/workspaces/configs/activityConfig.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/activities/update',
    summary: 'Replace fields of activity logs. Immutable activity logs cannot be changed',
    description:
      'Each field that is sent replaces the stored field. If a call changes an activity several times, only the last change is made. An unknown activity has `success: false` in the answer. So has one whose document is disabled or being migrated to another id; `message` names the reason. ' +
      'Only for API keys. Immutable activities are FAILED_PRECONDITION: see `immutable` of `/v2/workspace/activityconfig/update`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      activities: list(ActivityChange, limits.list).describe('The changes, each with the id of its activity.'),
    }),
    output: z.object({ data: z.record(z.string(), ItemOutcome).describe('The result for each activity, by its id.') }),
    message: batchMessage('activity', 'updated'),
    errors: ['FAILED_PRECONDITION'],
    uses: { findWritableOrganization, configs: readActivityConfig, activities: updateActivities },
    impact: 'customers cannot change activity logs',
    example: {
      data: {
        organizationId: 'acme',
        activities: [{ id: 'signature-1', displayMessageTemplate: '{{actionUser}} signed' }],
      },
      result: { data: { 'signature-1': { success: true, message: 'Activity updated.' } } },
    },
  },
  async ({ input, caller, deps }) => {
    const [organization, config] = await Promise.all([
      deps.findWritableOrganization(caller.tenant, input.organizationId),
      deps.configs.get(caller.tenant),
    ]);
    requireActivityLogsMutable(config);
    // If a request changes an activity several times, only the last change is made.
    const changes = distinctBy(input.activities.toReversed(), ({ id }) => id).reverse();
    const results = await deps.activities.update(organizationScope(caller.tenant, organization), changes);
    return { data: byIdOf(changes, ({ id }) => id, results) };
  },
);

export const handler = toLambda(endpoint);
