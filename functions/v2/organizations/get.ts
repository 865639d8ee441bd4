import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { type Organization, readOrganizations } from '../../../lib/directory/organizations.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { Id, limits, list, optional, pagesOrIds } from '../../../lib/shared/schema.ts';

const path = '/v2/organizations/get';

const OrganizationResponse = z.looseObject({
  id: z.string().describe('The organization, by the id that you chose.'),
  organizationName: z.string().optional().describe('The name that users see. Absent if it was never set.'),
  disabled: z.boolean().describe('Whether additions and changes in the organization are refused.'),
});

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get organizations by id, or all organizations in pages',
    description:
      'Organizations that do not exist are left out of the answer. Each organization has your own fields beside those of the service. Listed organizations are ordered by id.',
    auth: 'apiKey',
    kind: 'read',
    input: pagesOrIds('organizationIds', {
      organizationIds: optional(list(Id, limits.readIds)),
    }),
    output: z.object({
      data: z.array(OrganizationResponse).describe('The organizations that exist.'),
      nextPageToken: z.string().nullable(),
    }),
    message: 'Organization(s) retrieved successfully.',
    errors: [],
    uses: { organizations: readOrganizations },
    narrowBy: 'pageSize',
    impact: 'customers cannot read their organizations',
    example: {
      data: { organizationIds: ['acme'] },
      result: {
        data: [{ plan: 'pro', id: 'acme', organizationName: 'Acme Inc.', disabled: false }],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    if (input.organizationIds) {
      const results = await deps.organizations.find(caller.tenant, distinct(input.organizationIds));
      const organizations = results.filter((organization) => organization !== undefined);
      return { data: organizations.map(toResponse), nextPageToken: null };
    }
    const pages = paging(caller, [path], input, now);
    const page = await deps.organizations.list(caller.tenant, {
      limit: input.pageSize ?? limits.pageSize,
      after: pages.after,
    });
    return { data: page.values.map(toResponse), nextPageToken: pages.next(page.next) };
  },
);

function toResponse(organization: Organization) {
  const open = organization.metadata === undefined ? {} : (JSON.parse(organization.metadata) as object);
  return {
    ...open,
    id: organization.organizationId,
    organizationName: organization.organizationName,
    disabled: organization.disabled,
  };
}

export const twin = defineUnpagedTwin(endpoint, { narrowBy: 'organizationIds', row: OrganizationResponse });

export const handler = toLambdaWithTwin(endpoint, twin);
