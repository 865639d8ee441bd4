import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { readDocuments, refuseArriving } from '../../../../lib/directory/documents.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { readNotificationSettings } from '../../../../lib/notifications/notificationSettings.ts';
import { SettingRow } from '../../../../lib/notifications/rules.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/config/get',
    summary: 'Get the notification levels of a user, in the organization or in some documents',
    description:
      'Returns the levels that apply: those of the document, otherwise those of the organization, otherwise `ALL`. Unknown documents are left out. With a user token, users read their own levels. `/v2/notifications/config/set` changes them.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'self', on: 'selection', actor: [{ path: 'userId', holds: 'userId' }] }),
    kind: 'read',
    input: z
      .object({
        organizationId: Id,
        userId: Id,
        documentIds: optional(list(Id, limits.readIds, 0)).describe('The documents whose levels are returned.'),
        getOrganizationConfig: optional(z.boolean()).describe(
          'Whether the levels of the organization are returned too, first. By default false.',
        ),
      })
      .check(
        z.refine(
          ({ documentIds = [], getOrganizationConfig }) => documentIds.length > 0 || getOrganizationConfig === true,
          { path: ['documentIds'], error: 'is required unless getOrganizationConfig is true' },
        ),
      ),
    output: z.object({
      data: z.array(SettingRow).describe('The levels of the organization, then those of each document.'),
    }),
    message: 'User config fetched successfully.',
    errors: ['FAILED_PRECONDITION'],
    uses: { organizations: findOrganization, documents: readDocuments, settings: readNotificationSettings },
    narrowBy: 'documentIds',
    impact: 'customers cannot show the notification settings of their users',
    example: {
      data: { organizationId: 'acme', userId: 'ada', documentIds: ['nda'] },
      result: {
        data: [
          {
            config: { inbox: 'ALL', email: 'MINE' },
            metadata: {
              organizationId: 'acme',
              apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
              documentId: 'nda',
              userId: 'ada',
            },
          },
        ],
      },
    },
  },
  async ({ input: { organizationId, userId, documentIds = [], getOrganizationConfig }, caller, deps }) => {
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const stored = await deps.documents.getByIds(scope, distinct(documentIds));
      refuseArriving(stored);
      const documents = stored.filter((document) => document !== undefined);
      const scopes = [
        ...(getOrganizationConfig ? [{ documentKey: undefined, documentId: undefined }] : []),
        ...documents.map(({ internalId, documentId }) => ({ documentKey: internalId, documentId })),
      ];
      const settings = await deps.settings.get(scope, userId, scopes);
      return settings.map(({ set, effective: { inbox, email, slack } }, index) => ({
        config: { inbox, email, ...(set.slack !== undefined && { slack }) },
        metadata: { organizationId, apiKey: caller.tenant, documentId: scopes[index]?.documentId, userId },
      }));
    });
    return { data: content };
  },
);

export const twin = defineTwin(endpoint, {
  differs: 'only for documents',
  ignored: ['getOrganizationConfig'],
  required: ['documentIds'],
});

export const handler = toLambdaWithTwin(endpoint, twin);
