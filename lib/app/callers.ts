import type * as z from 'zod';
import type { Feature } from '../shared/features.ts';
import type { StoredProfile } from '../shared/schema.ts';
import type { AccessRole, TokenAccess, UserClaims } from './rules/access.ts';
import type { LimitClass } from './rules/limits.ts';

/** A caller with an API key. The API key is the tenant, under which all of a customer's data is stored. */
export interface ApiKeyCaller {
  readonly level: 'apiKey';
  readonly tenant: string;
  readonly workspaceId: string;
  /** The SHA-256 hash of the auth token in the headers. */
  readonly tokenHash: Uint8Array;
  /** The features that the operator withholds from this API key. */
  readonly withheld: readonly Feature[];
  /** The limits of this API key in calls per second, by class of calls. A class without a value has the limit from the settings. */
  readonly limits: Readonly<Partial<Record<LimitClass, number>>>;
  /** The key of 32 bytes that seals the page tokens of this tenant. */
  readonly pageKey: Uint8Array;
}

/** The user of a user token, and the user's access in the organization of the request. */
export interface CallingUser {
  readonly userId: string;
  readonly profile: z.output<typeof StoredProfile>;
  /** The user's lowest role on the resources that the request names. Undefined if the endpoint needs no role. */
  readonly role: AccessRole | undefined;
  readonly access: TokenAccess;
  /** See `NamedPeople`. The endpoint must refuse them, unless they take part in the thread. */
  readonly strangers: ReadonlySet<string>;
}

/** A browser that calls with a user token. The token belongs to an API key, which is the tenant. */
export interface UserCaller extends Omit<ApiKeyCaller, 'level' | 'tokenHash'> {
  readonly level: 'user';
  readonly claims: UserClaims;
  /** The number of times that the API key's user tokens had been revoked when this token was issued. */
  readonly tokenRevocations: number;
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
  /** An endpoint of level `apiKey` can be open to users too. Its caller can then be a user. */
  apiKey: ApiKeyCaller | UserCaller;
  user: UserCaller;
  workspace: WorkspaceCaller;
  none: AnonymousCaller;
}
export type AuthLevel = keyof CallerOf;
export type Caller = CallerOf[AuthLevel];
