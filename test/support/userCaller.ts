import type { AuthLevel } from '../../lib/app/endpoint.ts';
import { handlerOf } from './functionHandlers.ts';
import { type Headers, post } from './requests.ts';
import { headersOf, type TestWorkspace } from './workspaces.ts';

const headersByKey = new Map<string, Promise<Headers>>();

/**
 * Returns the headers of a user who may edit the document `nda` of the organization `acme`. Creates the user and the
 * document at the first call for a workspace.
 */
export function userHeadersOf({ apiKey, keyHeaders }: TestWorkspace): Promise<Headers> {
  const stored = headersByKey.get(apiKey) ?? createUser(keyHeaders);
  headersByKey.set(apiKey, stored);
  return stored;
}

/** Returns the headers of each auth level, with those of a user. */
export async function allHeadersOf(workspace: TestWorkspace): Promise<Record<AuthLevel, Headers>> {
  return { ...headersOf(workspace), user: await userHeadersOf(workspace) };
}

async function createUser(keyHeaders: Headers): Promise<Headers> {
  const send = async (path: string, data: object) => post(handlerOf(path), keyHeaders, data);
  await send('/v2/organizations/documents/add', {
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  const { body } = await send('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties: { name: 'Ada Lovelace', email: 'ada@example.com' },
    permissions: { resources: [{ type: 'document', id: 'nda', organizationId: 'acme' }] },
  });
  return { authorization: `Bearer ${body.result.data?.token ?? body.result.token}` };
}
