import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { deleteOrganizations } from '../../../lib/deletion/deleteOrganizations.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemResults } from '../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/delete',
    summary: 'Delete organizations with everything in them',
    description:
      'When the call has answered, nothing in the organization can be reached, and its id can be used again for an empty organization. A job removes the stored data from a minute later on. An unknown organization fails in its own result (`success: false`). A disabled one can be deleted. To remove single users with their content, call `/v2/users/delete`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizationIds: list(Id, limits.list) }),
    output: ItemResults,
    message: batchMessage('organization', 'deleted'),
    errors: [],
    uses: { deleteOrganizations },
    impact: 'customers cannot delete organizations',
    example: {
      data: { organizationIds: ['acme'] },
      result: {
        data: { acme: { success: true, id: 'org_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Deleted Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const organizationIds = distinct(input.organizationIds);
    const results = await deps.deleteOrganizations(caller.tenant, organizationIds, { now, log });
    return { data: byId(organizationIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
