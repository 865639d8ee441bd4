import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { broadcastLiveState } from '../../../lib/liveState/liveStates.ts';
import { userMarkup } from '../../../lib/markup/userMarkup.ts';
import { Succeeded } from '../../../lib/shared/results.ts';
import { Id, OpenObject, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/livestate/broadcast',
    summary: 'Send data to all users in a document, and store it under an id',
    description:
      'Users with a live connection to the document get the data at once as `livestate.update`. It stays stored under its id until the document is deleted or the last user who sent it is erased. The newest call wins. ' +
      'Every user who may read the document can send live data with a user token. More than 1,000 ids in a document are RESOURCE_EXHAUSTED. ' +
      '`/v2/livestate/get` returns the stored data.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }, userMarkup),
    kind: 'write',
    body: 'bare or wrapped',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      liveStateDataId: Id.describe('Your own name of the data. A document has at most 1,000.'),
      data: OpenObject.describe('The data to share. With `merge`, the stored data has the same limit.'),
      merge: optional(z.boolean()).describe(
        'Whether fields that are not sent stay, also inside nested objects. By default false: `data` replaces what is stored.',
      ),
    }),
    output: z.object({ data: Succeeded }),
    message: 'Event broadcasted successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { findWritableDocument, states: broadcastLiveState },
    impact: 'users do not see the live data of other users',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        liveStateDataId: 'selected-clause',
        data: { clause: 4 },
      },
      result: { data: { success: true } },
    },
    cost: { calls: 4, roundTrips: 3, readUnits: 3, writeUnits: 1 },
  },
  async ({ input: { liveStateDataId, data, merge = false, ...reference }, caller, deps, now }) => {
    const { scope } = await deps.findWritableDocument(caller.tenant, reference);
    const userId = caller.level === 'user' ? caller.user.userId : undefined;
    await deps.states.broadcast(scope, { liveStateDataId, data, merge, userId }, now);
    return { data: { success: true } };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
