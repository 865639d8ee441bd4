import type { UserCaller } from './callers.ts';
import type { Capability } from './capability.ts';
import type { CleanMarkup, ContentPolicy, UserRule } from './rules/userRule.ts';

/** With a valid token, before the user's access is checked. */
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
  /** Does not throw for a wrong token. */
  readToken(
    headers: { readonly authorization: string; readonly origin: string | undefined },
    options: { readonly now: number; readonly fresh: boolean },
  ): Promise<ReadUserToken>;
  /**
   * Puts the user of the token into the fields for the actor. Throws PERMISSION_DENIED if such a field names another
   * user.
   */
  fillActor(rule: UserRule, caller: UserTokenCaller, data: unknown): unknown;
  /**
   * Changes `data`. Throws INVALID_ARGUMENT with the paths of refused markup, URLs that are not http(s), and pictures
   * from other domains. Without `cleanMarkup`, refuses all markup.
   */
  cleanContent(data: unknown, policy: ContentPolicy): Promise<void>;
  /**
   * Throws PERMISSION_DENIED if the user may not make this call. In the returned `input`, the fields for the actor have
   * the stored profile.
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
