import * as z from 'zod';
import { defineEndpoint } from '../../../../../../lib/app/endpoint.ts';
import { Location } from '../../../../../../lib/content/rules/location.ts';
import { deleteLocations } from '../../../../../../lib/deletion/deleteLocationData.ts';
import { requireOwnCredentials } from '../../../../../../lib/http/credentials.ts';
import { toLambda } from '../../../../../../lib/http/lambda.ts';
import { Id } from '../../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v1/organizations/documents/locations/data/delete',
    summary: 'Delete all content at a location of a document, in every organization that has the document',
    description:
      'Also deletes in disabled organizations. The content cannot be restored. ' +
      'Only for API keys, with the credentials of the headers in the body too. Records of the last moments can be missed. Repeat the call to reach them, and after UNAVAILABLE.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      apiKey: z.string().describe('The API key of the headers.'),
      authToken: z.string().describe('The auth token of the headers.'),
      documentId: Id,
      location: Location.describe('The location whose content is deleted. Its `id` is enough.'),
    }),
    output: z.object({ data: z.null() }),
    message: 'Data deleted successfully.',
    errors: ['ABORTED', 'FAILED_PRECONDITION'],
    uses: { locations: deleteLocations },
    impact: 'customers cannot delete the content of a location',
    example: {
      data: {
        apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        authToken: 'the token of the headers',
        documentId: 'nda',
        location: { id: 'chapter-1', locationName: 'Chapter 1' },
      },
      result: { data: null },
    },
  },
  async ({ input: { apiKey, authToken, documentId, location }, caller, deps }) => {
    requireOwnCredentials(caller, { apiKey, authToken });
    await deps.locations.delete(caller.tenant, documentId, location);
    return { data: null };
  },
);

export const handler = toLambda(endpoint);
