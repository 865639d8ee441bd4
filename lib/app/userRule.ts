import type { UserCaller } from './callers.ts';
import type { Capability } from './capability.ts';
import type { CleanMarkup, ContentPolicy, UserRule } from './rules/userRule.ts';

/** A caller with a valid token whose access is not checked yet. */
export type UserTokenCaller = Pick<
  UserCaller,
  'level' | 'tenant' | 'workspaceId' | 'withheld' | 'limits' | 'pageKey' | 'claims' | 'tokenRevocations'
>;

export interface ReadUserToken {
  readonly caller: UserTokenCaller | undefined;
  /** The origin of the request, if the API key of the token allows it. */
  readonly allowedOrigin: string | undefined;
  readonly allowedDomains: readonly string[];
}

export interface UserAccessChecker {
  readToken(
    headers: { readonly authorization: string; readonly origin: string | undefined },
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<ReadUserToken>;
  /**
   * Removes the fields in `omits`, and fills the user of the token into those in `actor`. Throws PERMISSION_DENIED for
   * fields in `refuses`, and if an actor's field names another user.
   */
  fillActor(rule: UserRule, caller: UserTokenCaller, data: unknown): unknown;
  /** Changes `data`. Throws INVALID_ARGUMENT with the paths of what it refuses. */
  cleanContent(data: unknown, policy: ContentPolicy): Promise<void>;
  /**
   * Returns the input with the stored profiles of the user and of named people. Throws PERMISSION_DENIED if the user
   * may not make this call, and INVALID_ARGUMENT if an id that the rule needs is missing or there are too many people.
   */
  checkAccess(
    rule: UserRule,
    caller: UserTokenCaller,
    input: unknown,
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<{ readonly caller: UserCaller; readonly input: unknown }>;
}

export interface OpenToUsers extends UserRule {
  readonly checker: Capability<UserAccessChecker>;
  readonly cleanMarkup?: CleanMarkup | undefined;
}
