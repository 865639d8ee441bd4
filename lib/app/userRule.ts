import type { UserCaller } from './callers.ts';
import type { Capability } from './capability.ts';
import type { CleanMarkup, ContentPolicy, UserRule } from './rules/userRule.ts';

/** A caller with a valid user token, before the access of the user is checked. */
export type UserTokenCaller = Pick<
  UserCaller,
  'level' | 'tenant' | 'workspaceId' | 'withheld' | 'limits' | 'pageKey' | 'claims' | 'tokenRevocations'
>;

/** The result of reading a user token. */
export interface ReadUserToken {
  /** Undefined if the token is invalid, expired or revoked. */
  readonly caller: UserTokenCaller | undefined;
  /** The origin of the request, if the API key of the token allows this origin. Browsers at this origin may read the answer. */
  readonly allowedOrigin: string | undefined;
  readonly allowedDomains: readonly string[];
}

/** Checks calls with user tokens. */
export interface UserAccessChecker {
  /** Reads the token in an `authorization` header. Does not throw for a wrong token. */
  readToken(
    headers: { readonly authorization: string; readonly origin: string | undefined },
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<ReadUserToken>;
  /**
   * Returns `data` with the user of the token in the fields for the actor, such as `from`. Throws PERMISSION_DENIED if such a field
   * of `data` names another user.
   */
  fillActor(rule: UserRule, caller: UserTokenCaller, data: unknown): unknown;
  /**
   * Changes `data`. Throws INVALID_ARGUMENT with the paths of refused markup, URLs that are not http(s), and pictures from other
   * domains. Without `cleanMarkup`, refuses all markup.
   */
  cleanContent(data: unknown, policy: ContentPolicy): Promise<void>;
  /**
   * Returns the caller with the user's access. In the returned `input`, the fields for the actor have the user's stored profile.
   * Throws PERMISSION_DENIED if the user may not make this call.
   */
  checkAccess(
    rule: UserRule,
    caller: UserTokenCaller,
    input: unknown,
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<{ readonly caller: UserCaller; readonly input: unknown }>;
}

/** An endpoint's rule for user tokens, with the capability that checks the rule. `openToUsers` makes this object. */
export interface OpenToUsers extends UserRule {
  readonly checker: Capability<UserAccessChecker>;
  readonly cleanMarkup?: CleanMarkup | undefined;
}
