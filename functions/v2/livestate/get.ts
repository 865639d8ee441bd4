import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { listLiveStates } from '../../../lib/liveState/liveStates.ts';
import { LiveStateResponse } from '../../../lib/liveState/rules.ts';
import { Id, limits, list, optional, pagesOrIds } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/livestate/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get live data by id, or all live data of a document in pages',
    description:
      'With `liveStateDataIds`, unknown ids are left out of the answer. Every user who may read the document can call it with a user token. ' +
      '`/v2/live/connect` delivers later changes at once.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    input: pagesOrIds('liveStateDataIds', {
      organizationId: Id,
      documentId: Id,
      liveStateDataIds: optional(list(Id, limits.readIds)).describe('Only the data under these names.'),
    }),
    output: z.object({
      data: z
        .object({ states: z.array(LiveStateResponse).describe('The stored data.') })
        .describe('The live data of the document.'),
      nextPageToken: z.string().nullable(),
    }),
    message: 'Live state retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findDocument, states: listLiveStates },
    narrowBy: 'pageSize',
    impact: 'users do not see live data when they open a document',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', liveStateDataIds: ['selected-clause'] },
      result: {
        data: { states: [{ liveStateDataId: 'selected-clause', data: { clause: 4 }, at: 1767225600000 }] },
        nextPageToken: null,
      },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 3, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { liveStateDataIds, pageSize = limits.pageSize } = input;
    const { scope } = await deps.findDocument(caller.tenant, input);
    if (liveStateDataIds)
      return { data: { states: await deps.states.getByIds(scope, liveStateDataIds) }, nextPageToken: null };
    const pages = paging(caller, [path, scope.organizationKey, scope.documentKey], input, now);
    const { values, next } = await deps.states.list(scope, { limit: pageSize, after: pages.after });
    return { data: { states: values }, nextPageToken: pages.next(next) };
  },
);

export const handler = toLambda(endpoint);
