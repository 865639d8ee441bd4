import type * as z from 'zod';
import type { Feature } from '../shared/features.ts';
import type { StoredProfile } from '../shared/schema.ts';
import type { AccessRole, TokenAccess, UserClaims } from './rules/access.ts';
import type { LimitClass } from './rules/limits.ts';

export interface ApiKeyCaller {
  readonly level: 'apiKey';
  readonly tenant: string;
  readonly workspaceId: string;
  readonly tokenHash: Uint8Array;
  readonly withheld: readonly Feature[];
  /** Calls per second. A class without a value has the limit from the settings. */
  readonly limits: Readonly<Partial<Record<LimitClass, number>>>;
  /** The key of 32 bytes that seals this tenant's page tokens. */
  readonly pageKey: Uint8Array;
}

export interface CallingUser {
  readonly userId: string;
  readonly profile: z.output<typeof StoredProfile>;
  /**
   * The lowest role on the resources that the request names. Undefined if the call needs no role, and for a stranger.
   */
  readonly role: AccessRole | undefined;
  readonly access: TokenAccess;
  /** Named users without access. The endpoint must refuse them, unless they take part in the thread. */
  readonly strangers: ReadonlySet<string>;
}

export interface UserCaller extends Omit<ApiKeyCaller, 'level' | 'tokenHash'> {
  readonly level: 'user';
  readonly claims: UserClaims;
  readonly tokenRevocations: number;
  readonly user: CallingUser;
}

export interface WorkspaceCaller {
  readonly level: 'workspace';
  readonly workspaceId: string;
  readonly ownerEmail: string;
  readonly authToken: string;
  readonly pageKey: Uint8Array;
}

export interface AnonymousCaller {
  readonly level: 'none';
}

export interface CallerOf {
  apiKey: ApiKeyCaller | UserCaller;
  user: UserCaller;
  workspace: WorkspaceCaller;
  none: AnonymousCaller;
}
export type AuthLevel = keyof CallerOf;
export type Caller = CallerOf[AuthLevel];
