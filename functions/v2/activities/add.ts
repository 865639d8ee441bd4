import * as z from 'zod';
import { addActivities } from '../../../lib/activities/activityWriter.ts';
import { exampleActivity } from '../../../lib/activities/example.ts';
import { NewActivity, requireActivityLogsEnabled } from '../../../lib/activities/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Done } from '../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../lib/shared/schema.ts';
import { readActivityConfig } from '../../../lib/workspaces/configs/activityConfig.ts';

const message = 'Activity(s) added successfully.';

export const endpoint = defineEndpoint(
  {
    path: '/v2/activities/add',
    summary: 'Add activity logs to a document, all of them or none',
    description:
      'Activities must be enabled with `/v2/workspace/activityconfig/update`, otherwise the call is FAILED_PRECONDITION. An `id` that exists is overwritten and keeps its `timestamp`. More than 50 activities are several writes: repeat a call that ended early, with your own ids or an `Idempotency-Key`. ' +
      'Only for API keys. Changes of comments write activities themselves if the call has `triggerActivities`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      activities: list(NewActivity, limits.list).describe('The activities to add.'),
    }),
    output: z.object({ data: Done }),
    message,
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findDocument: findWritableDocument, configs: readActivityConfig, activities: addActivities },
    impact: 'customers cannot add activity logs',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        activities: [exampleActivity],
      },
      result: { data: { success: true, message } },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    const [scope, config] = await Promise.all([
      deps.findDocument(caller.tenant, input),
      deps.configs.get(caller.tenant),
    ]);
    requireActivityLogsEnabled(config);
    // Lists order activities of the same time by id. Sorted ids keep them in the order of the request.
    const ids = input.activities.map((_activity, index) => repeatableId('act', index)).sort();
    const activities = input.activities.map((activity, index) => ({
      ...activity,
      id: activity.id ?? (ids[index] as string),
      generated: activity.id === undefined,
    }));
    await deps.activities.add(scope, activities, { immutable: config?.immutable ?? false, now });
    return { data: { success: true as const, message } };
  },
);

export const handler = toLambda(endpoint);
