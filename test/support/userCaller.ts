import type { AuthLevel } from '../../lib/app/endpoint.ts';
import { ExampleCustomer } from './examples.ts';
import type { Headers } from './requests.ts';
import { headersOf, type TestWorkspace } from './workspaces.ts';

const headersByKey = new Map<string, Promise<Headers>>();

/**
 * Returns the headers of a user who may edit the document `nda` of the organization `acme`. Creates the user and the
 * documents at the first call for a workspace.
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
  const customer = new ExampleCustomer();
  customer.key = keyHeaders;
  await customer.createDocuments();
  await customer.createUserToken(['nda']);
  return customer.user;
}
