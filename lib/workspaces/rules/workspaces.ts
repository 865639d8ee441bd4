import * as z from 'zod';
import { dict } from '../../shared/collections.ts';
import { defineNamedSchema, defineSchema, Name, Text } from '../../shared/schema.ts';

/** The most API keys of one workspace. */
export const MAX_API_KEYS = 100;

/** The name of the first auth token of an API key. */
export const DEFAULT_TOKEN_NAME = 'Default Auth Token';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * The name of an owner or a workspace, 1 to 200 characters. `pipe` checks this limit before the larger one of `Name`, so error
 * messages say 200.
 */
export const ShortName = /* @__PURE__ */ defineSchema(() => z.string().min(1).max(200).pipe(Name));

/** The URL of an owner's picture. */
export const AvatarUrl = /* @__PURE__ */ defineSchema(() =>
  z
    .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
    .max(2_000)
    .pipe(Text),
);

/** The time in which an owner must verify the e-mail address: one minute to 48 hours, in milliseconds. */
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

/** An API key in answers. */
export const ApiKeyResponse = /* @__PURE__ */ defineNamedSchema('ApiKey', () =>
  z
    .object({
      id: z.string().describe('The API key itself, which calls send in a header.'),
      apiKeyName: z.string().describe('A title for people.'),
      type: ApiKeyType,
    })
    .describe('An API key of a workspace. It has organizations, users, content and settings of its own.'),
);

/** An auth token in answers, with its text. */
export const AuthTokenResponse = /* @__PURE__ */ defineNamedSchema('AuthToken', () =>
  z
    .object({
      token: z.string().describe('The secret, which calls send in a header together with the API key.'),
      name: z.string().describe('A title for people.'),
      domains: z.array(z.string()).describe('Always empty, because auth tokens are not bound to domains.'),
    })
    .describe('A secret with which your servers call the service.'),
);

/** A workspace in answers. */
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

/** The fields of a new API key. */
export interface ApiKeyFields {
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
  /** Whether the key gets a default auth token. */
  readonly withToken: boolean;
}

interface StoredApiKey {
  readonly apiKey: string;
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
}

/** The details in a request for a new workspace. All except the e-mail address have defaults. */
export interface OwnerDetails {
  readonly ownerEmail: string;
  readonly name?: string | undefined;
  readonly workspaceName?: string | undefined;
  readonly avatar?: string | undefined;
}

/** Returns an e-mail address in lower case, as the keys of items in the table contain it. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** The domains of disposable mail services. Their addresses expire after minutes, so their owners could not verify them later. */
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

/** Returns whether an e-mail address belongs to a disposable mail service. Compares its domain and all parents of the domain. */
export function isDisposable(email: string): boolean {
  const labels = emailKey(email)
    .slice(email.lastIndexOf('@') + 1)
    .split('.');
  return labels.some((_label, index) => disposableDomains.has(labels.slice(index).join('.')));
}

/** Returns a workspace's name and owner with their defaults. */
export function describeWorkspace({
  ownerEmail,
  name = ownerEmail,
  workspaceName = `${name} workspace`,
  avatar = '',
}: OwnerDetails) {
  return { workspaceName, owner: { email: ownerEmail, name, avatar } };
}

/** Returns the name of a workspace's first API key, such as `Ada Test API Key` for `ada@example.com`. */
export function firstApiKeyName(ownerEmail: string): string {
  return `${capitalised(ownerEmail.slice(0, ownerEmail.lastIndexOf('@')))} Test API Key`;
}

/** Returns the default name of an API key, such as `Production API Key`. */
export function defaultApiKeyName(type: string): string {
  return `${capitalised(type)} API Key`;
}

/**
 * Returns when the API keys of a workspace expire, epoch ms. Returns undefined if the owner's address is verified. `verifyWithinMs`
 * can shorten the operator's grace period, but not extend it.
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
