import * as z from 'zod';
import { dict } from '../../shared/collections.ts';
import { defineNamedSchema, defineSchema, Name, Text } from '../../shared/schema.ts';

export const MAX_WORKSPACES = 5;
export const MAX_API_KEYS = 100;

export const DEFAULT_TOKEN_NAME = 'Default Auth Token';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** `pipe` checks this limit before the larger one of `Name`, so messages say 200. */
export const ShortName = /* @__PURE__ */ defineSchema(() => z.string().min(1).max(200).pipe(Name));

export const AvatarUrl = /* @__PURE__ */ defineSchema(() =>
  z
    .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
    .max(2_000)
    .pipe(Text),
);

export const VerifyWithinMs = /* @__PURE__ */ defineSchema(() =>
  z
    .int()
    .min(60_000)
    .max(2 * DAY_MILLISECONDS),
);

export const apiKeyTypes = ['testing', 'production'] as const;
export const ApiKeyType = /* @__PURE__ */ defineSchema(() =>
  z
    .enum(apiKeyTypes)
    .describe('What the API key is for. Both types work alike, but only a production key checks its regions.'),
);

export const ApiKeyResponse = /* @__PURE__ */ defineNamedSchema('ApiKey', () =>
  z
    .object({
      id: z.string().describe('The API key itself, which calls send in a header.'),
      apiKeyName: z.string().describe('A title for people.'),
      type: ApiKeyType,
    })
    .describe('An API key of a workspace. It has organizations, users, content and settings of its own.'),
);

export const AuthTokenResponse = /* @__PURE__ */ defineNamedSchema('AuthToken', () =>
  z
    .object({
      token: z.string().describe('The secret, which calls send in a header together with the API key.'),
      name: z.string().describe('A title for people.'),
      domains: z.array(z.string()).describe('Always empty, because auth tokens are not bound to domains.'),
    })
    .describe('A secret with which your servers call the service.'),
);

export const WorkspaceResponse = /* @__PURE__ */ defineNamedSchema('Workspace', () =>
  z
    .object({
      id: z
        .string()
        .describe(
          'The workspace, by the id that the service gave it. Calls with workspace credentials send it in a header.',
        ),
      name: z.string().describe('The title of the workspace.'),
      authToken: z
        .string()
        .describe(
          'The auth token of the workspace: the new one, or the one that the call sent. The service stores only its hash.',
        ),
      owner: z
        .object({
          email: z.string().describe('The address that must be verified.'),
          id: z.string().describe('The owner, by an id of the service.'),
          name: z.string().describe('The full name. By default the e-mail address.'),
          avatar: z.string().describe('The URL of a picture. Empty if there is none.'),
        })
        .describe('The person to whom the workspace belongs.'),
      apiKeyList: z.record(z.string(), ApiKeyResponse).describe('The API keys of the workspace, by key.'),
    })
    .describe('A workspace with its owner and its API keys.'),
);

export interface ApiKeyFields {
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
  readonly withToken: boolean;
}

interface StoredApiKey {
  readonly apiKey: string;
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
}

export interface OwnerDetails {
  readonly ownerEmail: string;
  readonly name?: string | undefined;
  readonly workspaceName?: string | undefined;
  readonly avatar?: string | undefined;
}

/** Returns the address as keys in the table contain it. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** Addresses of disposable mail services can expire before their owners verify them. */
const disposableDomains: ReadonlySet<string> = new Set([
  '10minutemail.com',
  'dispostable.com',
  'fakeinbox.com',
  'getnada.com',
  'guerrillamail.com',
  'maildrop.cc',
  'mailinator.com',
  'mailnesia.com',
  'mohmal.com',
  'sharklasers.com',
  'temp-mail.org',
  'tempmail.com',
  'throwawaymail.com',
  'trashmail.com',
  'yopmail.com',
]);

/** Compares the domain and all its parents. */
export function isDisposable(email: string): boolean {
  const labels = emailKey(email)
    .slice(email.lastIndexOf('@') + 1)
    .split('.');
  return labels.some((_label, index) => disposableDomains.has(labels.slice(index).join('.')));
}

export function describeWorkspace({
  ownerEmail,
  name = ownerEmail,
  workspaceName = `${name} workspace`,
  avatar = '',
}: OwnerDetails) {
  return { workspaceName, owner: { email: ownerEmail, name, avatar } };
}

/** `Ada Test API Key` for `ada@example.com`. */
export function firstApiKeyName(ownerEmail: string): string {
  return `${capitalised(ownerEmail.slice(0, ownerEmail.lastIndexOf('@')))} Test API Key`;
}

export function defaultApiKeyName(type: string): string {
  return `${capitalised(type)} API Key`;
}

/**
 * Epoch ms. Undefined if the owner is verified. `verifyWithinMs` can shorten the operator's grace period, but not
 * extend it.
 */
export function keysExpireAt(
  workspace: { verifiedAt?: number | undefined; verifyWithinMs?: number | undefined; createdAt: number },
  graceDays: number,
): number | undefined {
  const { verifiedAt, verifyWithinMs = Infinity, createdAt } = workspace;
  return verifiedAt === undefined ? createdAt + Math.min(verifyWithinMs, graceDays * DAY_MILLISECONDS) : undefined;
}

export function toApiKeyResponse({ apiKey, apiKeyName, type }: StoredApiKey): z.output<typeof ApiKeyResponse> {
  return { id: apiKey, apiKeyName, type };
}

export function toWorkspaceResponse(
  workspace: {
    workspaceId: string;
    workspaceName: string;
    owner: { email: string; id: string; name: string; avatar: string };
  },
  apiKeys: readonly StoredApiKey[],
  authToken: string,
): z.output<typeof WorkspaceResponse> {
  const { workspaceId, workspaceName, owner } = workspace;
  return {
    id: workspaceId,
    name: workspaceName,
    authToken,
    owner,
    apiKeyList: dict(apiKeys.map((key) => [key.apiKey, toApiKeyResponse(key)] as const)),
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
