import { createClient, pages, ServiceError } from '../../lib/client/index.ts';

/** Adds a document that a user may see. Returns the ids of all documents of the organization. */
export async function shareContract(credentials: {
  baseUrl: string;
  apiKey: string;
  authToken: string;
}): Promise<string[]> {
  const client = createClient(credentials);
  await client.v2.organizations.documents.add({
    organizationId: 'initech',
    createOrganization: true,
    documents: [{ documentId: 'contract' }],
  });
  await client.v2.users.add({
    organizationId: 'initech',
    documentId: 'contract',
    users: [{ userId: 'ada', name: 'Ada Lovelace' }],
  });
  try {
    await client.v2.users.add({ organizationId: 'initech', documentId: 'lost', users: [{ userId: 'ada' }] });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 'NOT_FOUND') throw error;
  }
  const ids: string[] = [];
  for await (const { data } of pages(client.v2.organizations.documents.get, { organizationId: 'initech' }))
    ids.push(...data.map(({ id }) => id));
  return ids;
}
