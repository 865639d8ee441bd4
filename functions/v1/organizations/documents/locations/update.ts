import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { Location } from '../../../../../lib/content/rules/location.ts';
import { requireOwnCredentials } from '../../../../../lib/http/credentials.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { updateLocations } from '../../../../../lib/locations/locationUpdater.ts';
import { Id, optional } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v1/organizations/documents/locations/update',
    summary:
      'Change a location of a document and of all content at this location, in one organization or in every organization that has the document',
    description:
      'Changes the location of threads, reactions, recordings and notifications, also in disabled organizations, and causes no events. With another `id`, the content is found under the new location only. ' +
      'Only for API keys, with the credentials of the headers in the body too. Records of the last moments can be missed. Repeat the call to reach them, and after UNAVAILABLE.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      apiKey: z.string().describe('The API key of the headers.'),
      authToken: z.string().describe('The auth token of the headers.'),
      documentId: Id,
      organizationId: optional(Id).describe(
        'The only organization in which the location changes. By default every organization that has the document.',
      ),
      migrate: z
        .object({
          oldLocation: Location.describe('The location to change. Its `id` is enough.'),
          newLocation: Location.describe('The location that content has afterwards.'),
        })
        .describe('The location before and after.'),
      merge: optional(z.boolean()).describe(
        'Whether stored fields that `newLocation` lacks stay. By default false: `newLocation` replaces the location.',
      ),
    }),
    output: z.object({ data: z.null() }),
    message: 'Location updated.',
    errors: ['ABORTED', 'FAILED_PRECONDITION'],
    uses: { locations: updateLocations },
    impact: 'customers cannot change locations of their documents',
    example: {
      data: {
        apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        authToken: 'the token of the headers',
        organizationId: 'acme',
        documentId: 'nda',
        migrate: { oldLocation: { id: 'chapter-1' }, newLocation: { id: 'chapter-2', locationName: 'Chapter 2' } },
      },
      result: { data: null },
    },
  },
  async ({ input: { apiKey, authToken, documentId, organizationId, migrate, merge = false }, caller, deps }) => {
    requireOwnCredentials(caller, { apiKey, authToken });
    await deps.locations.update(caller.tenant, { documentId, organizationId, ...migrate, merge });
    return { data: null };
  },
);

export const handler = toLambda(endpoint);
