import type { ApiKeyCaller, UserCaller } from '../app/callers.ts';
import type { Viewer } from './rules/viewer.ts';

/** Returns the user of a call with a user token. Returns undefined for a call with an API key, which may see everything. */
export function viewerOf(caller: ApiKeyCaller | UserCaller): Viewer | undefined {
  if (caller.level !== 'user') return undefined;
  const { userId, role, access, strangers } = caller.user;
  return { userId, role, access: access.all, strangers };
}

/**
 * Returns whether the access of the users whom a request names must be checked. In a call with a user token, this is the user of
 * the token, whose access is checked already.
 */
export function mustVerifyUsers(
  caller: ApiKeyCaller | UserCaller,
  { verifyUserPermissions = false }: { readonly verifyUserPermissions?: boolean | undefined },
): boolean {
  return verifyUserPermissions && caller.level !== 'user';
}
