import * as z from 'zod';
import { deleteActivities } from '../../../lib/activities/deleteActivities.ts';
import { requireActivityLogsMutable } from '../../../lib/activities/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { documentScope, findWritableOrganization } from '../../../lib/content/documentScope.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { requireWritable } from '../../../lib/directory/requireWritable.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { dict } from '../../../lib/shared/collections.ts';
import { batchMessage, ItemOutcome } from '../../../lib/shared/results.ts';
import { Id, limits, list, notTogether, optional, PageToken, requireAnyOf } from '../../../lib/shared/schema.ts';
import { readActivityConfig } from '../../../lib/workspaces/configs/activityConfig.ts';

const selectors = ['documentId', 'targetEntityId', 'activityIds'] as const;

const path = '/v2/activities/delete';

export const endpoint = defineEndpoint(
  {
    path,
    summary:
      'Delete activity logs by id, document or target entity. If several are given, all must match. Immutable activity logs cannot be deleted',
    description:
      'By document or target entity, a call deletes about 2,000 activities: repeat it with the `pageToken` of the answer while `hasMore` is true. An activity whose document is disabled or being migrated to another id has `success: false` in the answer, and `message` names the reason. Deleting immutable activities is FAILED_PRECONDITION. ' +
      'Only for API keys. `/v2/workspace/activityconfig/update` decides whether activities are immutable.',
    auth: 'apiKey',
    kind: 'write',
    work: ({ activityIds }) => ({ items: activityIds?.length ?? limits.list }),
    input: z
      .object({
        organizationId: Id,
        documentId: optional(Id).describe('Only activities of this document.'),
        targetEntityId: optional(Id).describe('Only activities about this object, such as a comment thread.'),
        activityIds: optional(list(Id, limits.list)).describe('Only the activities with these ids.'),
        pageToken: optional(PageToken),
      })
      .check(
        notTogether('pageToken', 'activityIds'),
        requireAnyOf(selectors, { error: 'must have at least one of documentId, targetEntityId and activityIds' }),
      ),
    output: z.object({
      data: z
        .record(z.string(), ItemOutcome)
        .describe('The result for each activity, by its id. At most 500 failures.'),
      hasMore: z.boolean().describe('Whether activities can remain.'),
      pageToken: z.string().nullable().describe('Send the request again with this token while `hasMore` is true.'),
    }),
    message: batchMessage('activity', 'deleted', ({ hasMore }) =>
      hasMore
        ? 'Activity(s) deleted. There are more: send the request again with this pageToken.'
        : 'Activity(s) deleted successfully.',
    ),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: {
      findWritableOrganization,
      documents: readDocuments,
      configs: readActivityConfig,
      activities: deleteActivities,
    },
    impact: 'customers cannot delete activity logs',
    example: {
      data: { organizationId: 'acme', activityIds: ['signature-1'] },
      result: {
        data: { 'signature-1': { success: true, message: 'Activity deleted.' } },
        hasMore: false,
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, documentId, targetEntityId, activityIds } = input;
    const [organization, config] = await Promise.all([
      deps.findWritableOrganization(caller.tenant, organizationId),
      deps.configs.get(caller.tenant),
    ]);
    requireActivityLogsMutable(config);
    const organizationKeys = organizationScope(caller.tenant, organization);
    const scope = documentId === undefined ? organizationKeys : await requireDocumentScope(documentId);
    const pages = paging(caller, [path, JSON.stringify([scope, targetEntityId])], input, now);
    const { results, next } = await deps.activities.delete(scope, { activityIds, targetEntityId }, pages.after);
    return { data: dict(results), hasMore: next !== undefined, pageToken: pages.next(next) };

    async function requireDocumentScope(id: string) {
      const document = await deps.documents.require(organizationKeys, id);
      requireWritable({ document });
      return documentScope(organizationKeys, document);
    }
  },
);

export const handler = toLambda(endpoint);
