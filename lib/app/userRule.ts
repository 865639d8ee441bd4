import type { Capability } from './capability.ts';
import type { UserRule } from '../userTokens/rules/userRule.ts';
import type { UserCaller } from './callers.ts';

/** The part of an API key that calls with its user tokens share. */
export type UserTokenCaller = Pick<
  UserCaller,
  'level' | 'tenant' | 'workspaceId' | 'withheld' | 'limits' | 'pageKey' | 'claims'
>;

/** The result of reading a user token. */
export interface ReadUserToken {
  /** The caller; undefined for an invalid, expired or revoked token. */
  readonly caller: UserTokenCaller | undefined;
  /** The origin of the request, if the API key of the token allows it. Browsers there may read the answer. */
  readonly allowedOrigin: string | undefined;
}

/** Checks calls with user tokens. */
export interface UserAccessChecker {
  /** Reads the token in an `authorization` header. Never throws for a wrong token. */
  readToken(
    headers: { readonly authorization: string; readonly origin: string | undefined },
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<ReadUserToken>;
  /** Returns `data` with the user of the token in the fields of the actor. Throws PERMISSION_DENIED for another user. */
  fillActor(rule: UserRule, caller: UserTokenCaller, data: unknown): unknown;
  /**
   * Returns the caller with the user's access, and the input with the user's stored profile in the fields of the actor.
   * Throws PERMISSION_DENIED if the access is not enough.
   */
  checkAccess(
    rule: UserRule,
    caller: UserTokenCaller,
    input: unknown,
    now: number,
  ): Promise<{ readonly caller: UserCaller; readonly input: unknown }>;
}

/** An endpoint's rule for user tokens, with the capability that checks it. `openToUsers` makes it. */
export interface OpenToUsers extends UserRule {
  readonly checker: Capability<UserAccessChecker>;
}
