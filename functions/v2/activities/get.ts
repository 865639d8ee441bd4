import * as z from 'zod';
import { readActivities } from '../../../lib/activities/activityReader.ts';
import { exampleActivity } from '../../../lib/activities/example.ts';
import { ActivityListing, ActivityResponse } from '../../../lib/activities/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { visibleActivities } from '../../../lib/comments/visibleActivities.ts';
import { listingCursor, readListing } from '../../../lib/content/recordListing.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { limits, NextToken } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/activities/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get activity logs by id, or the activity logs of a document, a target entity or an organization in pages',
    description:
      'Lists the activities of an organization document by document, the latest first. With `targetEntityId` they are listed by time across documents, and activities of the last moments can be missing. A page can be short or empty: continue with the `pageToken` of the answer while it is not null. A user token needs `documentId`. The answer then leaves out activities about threads and comments that the user may not see or that are deleted.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    input: ActivityListing,
    output: z.object({ data: z.array(ActivityResponse).describe('The activities.'), pageToken: NextToken }),
    message: 'Activity(s) retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { readListing, activities: readActivities, visibleActivities },
    narrowBy: 'activityIds',
    impact: 'customers cannot read activity logs',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', featureTypes: ['custom'] },
      result: {
        data: [
          {
            ...exampleActivity,
            metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', documentId: 'nda', organizationId: 'acme' },
            timestamp: 1767225600000,
          },
        ],
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, targetEntityId, userId, activityIds, order = 'desc', pageSize = limits.pageSize } = input;
    const filter = {
      featureTypes: input.featureTypes && distinct(input.featureTypes).sort(),
      actionTypes: input.actionTypes && distinct(input.actionTypes).sort(),
      userId,
    };
    const listing = {
      ...filter,
      targetEntityId,
      descending: order === 'desc',
      names: { apiKey: caller.tenant, organizationId },
    };
    return deps.readListing(caller.tenant, input, async ({ organization, document, documents }) => {
      const scope = document?.scope ?? organization;
      const pages = paging(
        caller,
        [
          path,
          organization.organizationKey,
          JSON.stringify([document?.scope.documentKey, targetEntityId, filter, activityIds, order]),
        ],
        input,
        now,
      );
      const toVisible = async (values: ActivityResponse[]) =>
        deps.visibleActivities({ organizationId, document }, viewerOf(caller), values, now);
      if (activityIds) {
        const activities = await deps.activities.listByIds(scope, distinct(activityIds), listing);
        return { data: await toVisible(activities), pageToken: null };
      }

      const page = { from: listingCursor.position(pages.after), limit: pageSize };
      const { values, next } =
        targetEntityId === undefined
          ? await deps.activities.list(documents, listing, page)
          : await deps.activities.listOfTarget(scope, { ...listing, targetEntityId }, page);
      return { data: await toVisible(values), pageToken: pages.next(listingCursor.of(next)) };
    });
  },
);

export const handler = toLambda(endpoint);
