import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/authtoken/ensure',
    summary: 'Get the auth token of the workspace',
    description:
      'Every workspace has an auth token from its creation on, of which the service stores only a hash. The answer repeats the token that you sent. It is for clients that call this before their first call. For the auth tokens of an API key, call `/v2/workspace/authtokens/get`.',
    auth: 'workspace',
    kind: 'read',
    body: 'optional',
    input: z.object({}),
    output: z.object({
      data: z.object({ authToken: z.string().describe('The auth token of the workspace, as it was sent.') }),
    }),
    message: 'Workspace auth token ensured successfully.',
    errors: [],
    uses: {},
    impact: 'clients that ask for the auth token of their workspace cannot start',
    example: { data: {}, result: { data: { authToken: '5f0c3a9e1b7d48f2a6c4e8d0b9f1a3c7' } } },
    cost: { calls: 0, roundTrips: 0, readUnits: 0, writeUnits: 0 },
  },
  ({ caller: { authToken } }) => Promise.resolve({ data: { authToken } }),
);

export const handler = toLambda(endpoint);
