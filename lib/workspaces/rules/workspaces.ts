import * as z from 'zod';
import { dict } from '../../shared/collections.ts';
import { Name, Text } from '../../shared/schema.ts';

/** How many API keys a workspace may have. */
export const MOST_API_KEYS = 100;

/** The name of the auth token that every new API key has. */
export const DEFAULT_TOKEN_NAME = 'Default Auth Token';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

/** An owner's e-mail address: at most 254 characters, the longest that mail can be sent to. */
export const OwnerEmail = z.email({ error: 'must be an e-mail address' }).max(254);

/** The name of an owner or a workspace: 1 to 200 characters. Piped, so that a longer one is told this limit and no other. */
export const ShortName = z.string().min(1).max(200).pipe(Name);

/** The address of an owner's picture. */
export const AvatarUrl = z
  .url({ protocol: /^https?$/, error: 'must be a valid http(s) URL' })
  .max(2_000)
  .pipe(Text);

/** How long an owner has to verify the address: one minute to 48 hours. */
export const VerifyWithinMs = z
  .int()
  .min(60_000)
  .max(2 * DAY_MILLISECONDS);

export const apiKeyTypes = ['testing', 'production'] as const;
export const ApiKeyType = z.enum(apiKeyTypes);

/** An API key as answers show it. */
export const ApiKeyResponse = z.object({ id: z.string(), apiKeyName: z.string(), type: ApiKeyType });

/** An auth token of an API key, with its text. */
export const AuthTokenResponse = z.object({ token: z.string(), name: z.string(), domains: z.array(z.string()) });

/** A workspace as answers show it. */
export const WorkspaceResponse = z.object({
  id: z.string(),
  name: z.string(),
  /** At creation the new token, later the one that the caller sent: only its hash is stored. */
  authToken: z.string(),
  owner: z.object({ email: z.string(), id: z.string(), name: z.string(), avatar: z.string() }),
  apiKeyList: z.record(z.string(), ApiKeyResponse),
});

/** What an API key is created with. */
export interface ApiKeyFields {
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
  /** Whether it gets a default auth token. */
  readonly withToken: boolean;
}

interface StoredApiKey {
  readonly apiKey: string;
  readonly apiKeyName: string;
  readonly type: z.output<typeof ApiKeyType>;
}

/** What a workspace can be created with; all but the address have defaults. */
export interface OwnerDetails {
  readonly ownerEmail: string;
  readonly name?: string | undefined;
  readonly workspaceName?: string | undefined;
  readonly avatar?: string | undefined;
}

/** The form of an e-mail address under which it is looked up: an address has one workspace, however it is written. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}

/** Mail services whose addresses are thrown away after minutes, so that nobody could ever verify them again. */
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

/** Whether an address belongs to a disposable mail service, or to a subdomain of one. */
export function isDisposable(email: string): boolean {
  const labels = emailKey(email)
    .slice(email.lastIndexOf('@') + 1)
    .split('.');
  return labels.some((_label, index) => disposableDomains.has(labels.slice(index).join('.')));
}

/** A workspace's name and owner with the defaults in place: the name is the address, the workspace is named after it. */
export function describeWorkspace({
  ownerEmail,
  name = ownerEmail,
  workspaceName = `${name} workspace`,
  avatar = '',
}: OwnerDetails) {
  return { workspaceName, owner: { email: ownerEmail, name, avatar } };
}

/** `Ada Test API Key` for `ada@example.com`: the name of a workspace's first API key. */
export function firstApiKeyName(ownerEmail: string): string {
  return `${capitalised(ownerEmail.slice(0, ownerEmail.lastIndexOf('@')))} Test API Key`;
}

/** `Production API Key`: the name of an API key that was given none. */
export function defaultApiKeyName(type: string): string {
  return `${capitalised(type)} API Key`;
}

/**
 * When the API keys of a workspace stop working, in epoch ms: never once its owner's address is verified, until then some days after its
 * creation. The workspace can have asked for less time than the operator grants, not for more.
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
