import * as z from 'zod';
import { deleteActivities } from '../../../lib/activities/activities.ts';
import { requireActivityLogsMutable } from '../../../lib/activities/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableOrganization, requireWritable } from '../../../lib/content/documentScope.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { organizationScope } from '../../../lib/directory/folders/folders.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { dict, distinct } from '../../../lib/shared/collections.ts';
import { ItemOutcome } from '../../../lib/shared/results.ts';
import { closedObject, Id, limits, list, optional, requireAnyOf } from '../../../lib/shared/schema.ts';
import { readActivityConfig } from '../../../lib/workspaces/configs/activityConfig.ts';

const selectors = ['documentId', 'targetEntityId', 'activityIds'] as const;

export const endpoint = defineEndpoint(
  {
    path: '/v2/activities/delete',
    summary:
      'Delete activity logs by id, document or target entity. If several are given, all must match. Immutable activity logs cannot be deleted',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({
      organizationId: Id,
      documentId: optional(Id),
      targetEntityId: optional(Id),
      activityIds: optional(list(Id, limits.list)),
    }).check(
      requireAnyOf(selectors, { error: 'must have at least one of documentId, targetEntityId and activityIds' }),
    ),
    output: z.object({
      data: z.record(z.string(), ItemOutcome),
      /** If true, activities remain. Send the same request again to delete the next ones. */
      hasMore: z.boolean(),
    }),
    message: ({ hasMore }) =>
      hasMore ? 'Activity(s) deleted. There are more: send the request again.' : 'Activity(s) deleted successfully.',
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
      result: { data: { 'signature-1': { success: true, message: 'Activity deleted.' } }, hasMore: false },
    },
  },
  async ({ input: { organizationId, documentId, targetEntityId, activityIds }, caller, deps }) => {
    const [organization, config] = await Promise.all([
      deps.findWritableOrganization(caller.tenant, organizationId),
      deps.configs.get(caller.tenant),
    ]);
    requireActivityLogsMutable(config);
    const scope = organizationScope(caller.tenant, organization);
    const documentScope = documentId === undefined ? undefined : await requireDocumentScope(documentId);
    const { results, hasMore } = await deleteSelected();
    return { data: dict(results), hasMore };

    async function requireDocumentScope(id: string) {
      const document = await deps.documents.require(scope, id);
      requireWritable({ document });
      return { ...scope, documentKey: document.internalId };
    }

    async function deleteSelected() {
      if (activityIds) return deps.activities.delete(documentScope ?? scope, distinct(activityIds), targetEntityId);
      if (targetEntityId !== undefined) return deps.activities.deleteOfTarget(documentScope ?? scope, targetEntityId);
      return documentScope ? deps.activities.deleteOfDocument(documentScope) : { results: [], hasMore: false };
    }
  },
);

export const handler = toLambda(endpoint);
