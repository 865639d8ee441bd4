import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { liveHints } from '../../../lib/kinds/liveHints.ts';
import { readChanges } from '../../../lib/live/changesReader.ts';
import { MissedChanges } from '../../../lib/live/rules/missedChanges.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/live/changes',
    summary: 'Get the messages about changes of a document (hints) that a client missed',
    description:
      'Only for user tokens. Call it after a reconnect, or if a `version` of the document channel is missing. Hints are kept for two hours. If `complete` is false, read the document, the presence and the live data again. ' +
      'Hints have ids and no text. `/v2/live/connect` opens the channels.',
    auth: 'user',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    requires: 'live',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      after: z
        .int()
        .min(0)
        .describe(
          'The last `version` of the document channel that the client knows. With 0, the answer begins with the oldest stored hint.',
        ),
    }),
    output: z.object({
      data: MissedChanges,
    }),
    message: 'Live changes retrieved successfully.',
    errors: ['NOT_FOUND', 'PERMISSION_DENIED'],
    uses: { findDocument, live: readChanges },
    impact: 'users who reconnect do not see what they missed before a reload',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', after: 41 },
      result: {
        data: {
          hints: [
            {
              type: 'comment.add',
              at: 1_767_225_600_000,
              ids: { annotationId: 'clause-4', commentId: 583920 },
              version: 42,
            },
          ],
          userHints: [],
          version: 42,
          complete: true,
          hasMore: false,
        },
      },
    },
    cost: { calls: 6, roundTrips: 3, readUnits: 6, writeUnits: 0 },
  },
  async ({ input: { after, ...reference }, caller, deps, now }) => {
    const document = await deps.findDocument(caller.tenant, reference);
    const { userId, role, access, strangers } = caller.user;
    const user = { userId, role, access: access.all, strangers, userKey: caller.claims.userKey };
    return { data: await deps.live.changes(document, user, after, { now, announced: liveHints.announced }) };
  },
);

export const handler = toLambda(endpoint);
