import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { findLiveDocuments } from '../../../../lib/content/recordListing.ts';
import { readDocuments, refuseMigrating } from '../../../../lib/directory/documents.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { folderChain } from '../../../../lib/directory/rules/access.ts';
import { notificationChannels, notificationLevels } from '../../../../lib/events/rules/recipients.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { writeNotificationSettings } from '../../../../lib/notifications/notificationSettings.ts';
import { SettingResult } from '../../../../lib/notifications/rules.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { isNearName } from '../../../../lib/shared/nearName.ts';
import { batchMessage, byId } from '../../../../lib/shared/results.ts';
import { Id, limits, list, optional, requireChange, withFurtherFields } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

const Level = optional(z.enum(notificationLevels));
const message = 'User config set successfully.';

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/config/set',
    summary: 'Set the notification levels of users, in the organization or in some documents',
    description:
      'Sets the levels for the named documents, or for the whole organization without `documentIds`. A level of a document takes precedence over the level of the organization. Channels that are not sent keep their level. ' +
      'With a user token, users set their own levels. An unknown document is NOT_FOUND, and nothing changes.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'self', on: 'selection', actor: [{ path: 'userIds', holds: 'userIds' }] }),
    kind: 'write',
    work: ({ userIds, documentIds = [] }) => ({ items: userIds.length * Math.max(1, documentIds.length) }),
    input: z.object({
      organizationId: Id,
      documentIds: optional(list(Id, limits.readIds)).describe(
        'The documents for which the levels apply. By default the whole organization.',
      ),
      userIds: list(Id, limits.permissionIds).describe('The users whose levels are set.'),
      // Clients also send channels of their own, which have no effect.
      config: withFurtherFields(
        z
          .object({
            inbox: Level.describe('Which events reach the inbox of the user.'),
            email: Level.describe('Which events are mailed to the user.'),
            slack: Level.describe('Which events the user gets as direct messages in Slack. By default `MINE`.'),
          })
          .describe(
            '`ALL`: all events for the user. `MINE`: events that address the user, such as mentions. `NONE`: no event.',
          ),
        (name) => !notificationChannels.some((channel) => isNearName(name, channel)),
      ).check(requireChange(notificationChannels, 'must have at least one of inbox, email and slack')),
    }),
    output: z.object({
      data: z.record(z.string(), SettingResult).describe('The result for each user, by the user id.'),
    }),
    message: batchMessage('user config', 'set', message),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableOrganization, documents: readDocuments, settings: writeNotificationSettings },
    impact: 'customers cannot change the notification settings of their users',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'], userIds: ['ada'], config: { inbox: 'ALL', email: 'MINE' } },
      result: { data: { ada: { success: true, userId: 'ada', documentId: 'nda', message } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const scope = organizationScope(caller.tenant, organization);
    const userIds = distinct(input.userIds);
    const results = await deps.settings.set(scope, userIds, await scopes(), input.config, now);
    return {
      data: byId(
        userIds,
        results.map(({ success, message: why }, index) => ({
          success,
          userId: userIds[index] as string,
          documentId: input.documentIds?.[0] ?? null,
          message: why,
        })),
      ),
    };

    async function scopes() {
      if (!input.documentIds) return [{}];
      const found = await findLiveDocuments(deps.documents, scope, input.documentIds);
      const unknown = input.documentIds.find((id) => !found.has(id));
      if (unknown !== undefined) throw new ApiError('NOT_FOUND', `Document ${unknown} does not exist`);
      const documents = [...found.values()];
      refuseMigrating(documents);
      return documents.map(({ internalId, folder }) => ({
        documentKey: internalId,
        folderKeys: folder && folderChain(folder),
      }));
    }
  },
);

export const twin = defineTwin(endpoint, { differs: 'only for documents', required: ['documentIds'] });

export const handler = toLambdaWithTwin(endpoint, twin);
