import type { ApiKeyCaller, UserCaller } from '../app/callers.ts';
import type { Viewer } from './rules/viewer.ts';

/** Undefined for an API key, which may see everything. */
export function viewerOf(caller: ApiKeyCaller | UserCaller): Viewer | undefined {
  if (caller.level !== 'user') return undefined;
  const { userId, role, access, strangers } = caller.user;
  return { userId, role, access: access.all, strangers };
}

/** In a call with a user token, the named user is the user of the token, whose access is checked already. */
export function mustVerifyUsers(
  caller: ApiKeyCaller | UserCaller,
  { verifyUserPermissions = false }: { readonly verifyUserPermissions?: boolean | undefined },
): boolean {
  return verifyUserPermissions && caller.level !== 'user';
}
