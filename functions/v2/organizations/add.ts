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
    path: '/v2/organizations/add',
    summary: 'Add organizations',
    description:
      'An organization contains folders, documents, users and user groups, and all other ids belong to it. An organization that exists already fails in its own result (`success: false`) and stays as it is. Many other calls create a missing organization if they have `createOrganization: true`. To change an organization, call `/v2/organizations/update`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizations: list(OrganizationFields, limits.list) }),
    output: ItemResults,
    message: batchMessage('organization', 'added'),
    errors: [],
    uses: { organizations: writeOrganizations },
    impact: 'customers cannot add organizations',
    example: {
      data: { organizations: [{ organizationId: 'acme', organizationName: 'Acme Inc.', plan: 'pro' }] },
      result: {
        data: { acme: { success: true, id: 'org_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Added Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organizations = distinctBy(input.organizations, ({ organizationId }) => organizationId).map(
      ({ organizationId, organizationName, open }) => ({
        organizationId,
        organizationName,
        metadata: Object.keys(open).length > 0 ? JSON.stringify(open) : undefined,
      }),
    );
    const results = await deps.organizations.add(caller.tenant, organizations, now);
    return { data: byIdOf(organizations, ({ organizationId }) => organizationId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
