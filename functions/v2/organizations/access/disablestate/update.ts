import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { writeOrganizations } from '../../../../../lib/directory/organizations.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemResults } from '../../../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/access/disablestate/update',
    summary: 'Disable or enable organizations. Changes in a disabled organization are refused',
    description:
      'A disabled organization refuses additions and changes with FAILED_PRECONDITION, and user tokens reach nothing in it. Calls with the API key can still read it, revoke access in it and delete it. An unknown organization fails in its own result (`success: false`). To disable single documents, call `/v2/organizations/documents/access/disablestate/update`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationIds: list(Id, limits.list),
      disabled: z
        .boolean()
        .describe('True refuses additions and changes in the organizations. False allows them again.'),
    }),
    output: ItemResults,
    message: batchMessage(
      'organization disabled state',
      'updated',
      'Updated disable state for Organization(s) successfully.',
    ),
    errors: [],
    uses: { organizations: writeOrganizations },
    impact: 'customers cannot disable or enable organizations',
    example: {
      data: { organizationIds: ['acme'], disabled: true },
      result: {
        data: {
          acme: {
            success: true,
            id: 'org_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
            message: 'Updated disable state for organization Successfully',
          },
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organizationIds = distinct(input.organizationIds);
    const results = await deps.organizations.disable(caller.tenant, organizationIds, input.disabled, now);
    return { data: byId(organizationIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
