import type * as z from 'zod';
import type { AccessRole } from '../directory/rules/access.ts';
import type { Feature } from '../shared/features.ts';
import type { StoredProfile } from '../shared/schema.ts';
import type { UserClaims } from '../userTokens/rules/claims.ts';
import type { TokenAccess } from '../userTokens/rules/tokenAccess.ts';
import type { LimitClass } from '../workspaces/rules/rateLimit.ts';

/** A caller with an API key. The API key is the tenant: all of a customer's data is stored under it. */
export interface ApiKeyCaller {
  readonly level: 'apiKey';
  readonly tenant: string;
  readonly workspaceId: string;
  /** The SHA-256 of the auth token in the headers. */
  readonly tokenHash: Uint8Array;
  /** The features that this API key cannot use. The operator withholds them. */
  readonly withheld: readonly Feature[];
  /** Calls per second by class. A class without a value has the limit from the settings. */
  readonly limits: Readonly<Partial<Record<LimitClass, number>>>;
  /** The key of 32 bytes that seals the page tokens of this tenant. */
  readonly pageKey: Uint8Array;
}

/** The user of a user token, with the access to the organization of the request. */
export interface CallingUser {
  readonly userId: string;
  readonly profile: z.output<typeof StoredProfile>;
  /** The lowest role on the resources that the request names; undefined if the endpoint needs none. */
  readonly role: AccessRole | undefined;
  readonly access: TokenAccess;
}

/** A browser that calls with a user token of an API key. */
export interface UserCaller extends Omit<ApiKeyCaller, 'level' | 'tokenHash'> {
  readonly level: 'user';
  readonly claims: UserClaims;
  readonly user: CallingUser;
}

export interface WorkspaceCaller {
  readonly level: 'workspace';
  readonly workspaceId: string;
  readonly ownerEmail: string;
  /** The auth token in the headers. */
  readonly authToken: string;
  readonly pageKey: Uint8Array;
}

export interface AnonymousCaller {
  readonly level: 'none';
}

export interface CallerOf {
  /** The caller of an endpoint that is open to users can be a user. */
  apiKey: ApiKeyCaller | UserCaller;
  user: UserCaller;
  workspace: WorkspaceCaller;
  none: AnonymousCaller;
}
export type AuthLevel = keyof CallerOf;
export type Caller = CallerOf[AuthLevel];
