import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../../lib/app/rules/access.ts';
import { findWritableOrganization } from '../../../../../lib/content/documentScope.ts';
import { changeFolderAccess } from '../../../../../lib/directory/folders/folderChanger.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { batchMessage, byId, outcomeFields } from '../../../../../lib/shared/results.ts';
import { Id, limits, list, optional, withFieldRule } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/folders/access/update',
    summary: 'Set the access type of folders, or make them inherit the access type of their parent',
    description:
      'The access type holds for all documents in the folder, and for the subfolders that inherit it. It takes effect at once, for calls with user tokens within 10 seconds. An unknown folder fails in its own result (`success: false`). A disabled organization refuses the call with FAILED_PRECONDITION. To give single users access, call `/v2/auth/permissions/add`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        folderIds: list(Id, limits.list),
        accessType: optional(z.enum(accessTypes)).describe(
          'Who can open the documents in the folders without a grant. Ignored if `inheritFromParent` is true.',
        ),
        inheritFromParent: optional(z.boolean()).describe(
          'True gives the folders the access type of their parents, now and after later changes. By default false.',
        ),
      })
      .check(
        withFieldRule(
          'anyOf',
          ['accessType', 'inheritFromParent'],
          z.refine(({ accessType, inheritFromParent }) => accessType !== undefined || inheritFromParent === true, {
            path: ['accessType'],
            error: 'is required unless inheritFromParent is true',
          }),
        ),
      ),
    output: z.object({
      data: z
        .record(
          z.string(),
          z.object({
            ...outcomeFields,
            accessType: z
              .enum(accessTypes)
              .nullable()
              .describe('The own access type after the call. Null if the folder failed or inherits.'),
            inheritFromParent: z.boolean().optional().describe('True if the folder inherits the access type now.'),
          }),
        )
        .describe('The result for each folder, by the id that you chose.'),
    }),
    message: batchMessage('folder access type', 'updated', (_output, { inheritFromParent }) =>
      inheritFromParent ? 'Folder access type updated.' : 'Updated access for folders successfully.',
    ),
    errors: ['FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableOrganization, folders: changeFolderAccess },
    impact: 'customers cannot change who can open folders',
    example: {
      data: { organizationId: 'acme', folderIds: ['contracts'], accessType: 'restricted' },
      result: {
        data: { contracts: { success: true, accessType: 'restricted', message: 'Folder access type updated.' } },
      },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const folderIds = distinct(input.folderIds);
    const accessType = input.inheritFromParent ? undefined : input.accessType;
    const request = { tenant: caller.tenant, organization, now, log };
    const results = await deps.folders.updateAccess(request, folderIds, accessType);
    return { data: byId(folderIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
