import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { writeOrganizations } from '../../../lib/directory/organizations.ts';
import { OrganizationFields } from '../../../lib/directory/rules/organizations.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../lib/shared/results.ts';
import { limits, list } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/update',
    summary: 'Change organizations. Fields that are not sent stay as they are',
    description:
      'Sent fields replace the stored fields of the same names, and other fields stay. An unknown organization fails in its own result (`success: false`), and so does one whose own fields would become too large. The call also works for a disabled organization. To disable an organization, call `/v2/organizations/access/disablestate/update`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizations: list(OrganizationFields, limits.list) }),
    output: ItemResults,
    message: batchMessage('organization', 'updated'),
    errors: [],
    uses: { organizations: writeOrganizations },
    impact: 'customers cannot change organizations',
    example: {
      data: { organizations: [{ organizationId: 'acme', organizationName: 'Acme Corporation', plan: 'enterprise' }] },
      result: {
        data: { acme: { success: true, id: 'org_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Updated Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const changes = distinctBy(input.organizations, ({ organizationId }) => organizationId);
    const results = await deps.organizations.update(caller.tenant, changes, now);
    return { data: byIdOf(changes, ({ organizationId }) => organizationId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
