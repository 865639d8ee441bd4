import { randomUUID } from 'node:crypto';
import type { AuthLevel } from '../../lib/app/endpoint.ts';
import { handlerOf } from './functionHandlers.ts';
import { type Headers, post, resultOf } from './requests.ts';

const listTokens = handlerOf('/v2/workspace/authtokens/get');
const createWorkspace = handlerOf('/v2/workspace/create');
const createApiKey = handlerOf('/v2/workspace/apikey/create');

export interface TestWorkspace {
  readonly id: string;
  readonly ownerEmail: string;
  readonly workspaceAuthToken: string;
  readonly apiKey: string;
  readonly authToken: string;
  /** Headers with the credentials of the workspace. */
  readonly headers: Headers;
  /** Headers with the credentials of the first API key. */
  readonly keyHeaders: Headers;
}

const NOTHING: Headers = {};

/** Returns the credential headers of each auth level. */
export function headersOf({ headers, keyHeaders }: TestWorkspace): Record<AuthLevel, Headers> {
  return { apiKey: keyHeaders, workspace: headers, user: NOTHING, none: NOTHING };
}

/** Creates a workspace through the API. Also reads the tokens of its first API key. */
export async function newWorkspace(ownerEmail = `owner-${randomUUID()}@example.com`): Promise<TestWorkspace> {
  const {
    id,
    authToken: workspaceAuthToken,
    apiKeyList,
  } = (await post(createWorkspace, {}, { ownerEmail })).body.result.data;
  const headers = { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': workspaceAuthToken };
  const [apiKey] = Object.keys(apiKeyList) as [string];
  const { authTokens } = (await post(listTokens, headers, { apiKey })).body.result.data;
  const authToken = authTokens[0].token;
  return {
    id,
    ownerEmail,
    workspaceAuthToken,
    apiKey,
    authToken,
    headers,
    keyHeaders: { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken },
  };
}

interface TestApiKey {
  readonly apiKey: string;
  readonly authToken: string;
  /** Headers with the credentials of the API key, if it has a token. */
  readonly headers: Headers;
}

/** Creates another API key of a workspace. */
export async function newApiKey(
  { headers, ownerEmail }: Pick<TestWorkspace, 'headers' | 'ownerEmail'>,
  settings: object = {},
): Promise<TestApiKey> {
  const data = { ownerEmail, type: 'testing', ...settings };
  const { apiKey, authToken } = resultOf(await post(createApiKey, headers, data)).data;
  return { apiKey, authToken, headers: { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken } };
}
