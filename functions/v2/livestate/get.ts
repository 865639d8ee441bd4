import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { listLiveStates } from '../../../lib/liveState/liveStates.ts';
import { LiveStateResponse } from '../../../lib/liveState/rules.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/livestate/get',
    summary: 'Get all live data of a document, or live data by id',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      liveStateDataIds: optional(list(Id, limits.readIds)),
    }),
    output: z.object({ data: z.object({ states: z.array(LiveStateResponse) }) }),
    message: 'Live state retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { findDocument, states: listLiveStates },
    narrowBy: 'liveStateDataIds',
    impact: 'users do not see live data when they open a document',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', liveStateDataIds: ['selected-clause'] },
      result: {
        data: { states: [{ liveStateDataId: 'selected-clause', data: { clause: 4 }, at: 1767225600000 }] },
      },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 3, writeUnits: 0 },
  },
  async ({ input: { liveStateDataIds, ...reference }, caller, deps }) => {
    const { scope } = await deps.findDocument(caller.tenant, reference);
    return { data: { states: await deps.states.list(scope, liveStateDataIds) } };
  },
);

export const handler = toLambda(endpoint);
