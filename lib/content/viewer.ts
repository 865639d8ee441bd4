import type { ApiKeyCaller, UserCaller } from '../app/callers.ts';
import type { Viewer } from './rules/viewer.ts';

/** An API key may see everything, so it has no viewer. */
export function viewerOf(caller: ApiKeyCaller | UserCaller): Viewer | undefined {
  if (caller.level !== 'user') return undefined;
  const { userId, role, access, strangers } = caller.user;
  return { userId, role, access: access.all, strangers };
}

/** The access of a token's user is checked already. */
export function mustVerifyUsers(
  caller: ApiKeyCaller | UserCaller,
  { verifyUserPermissions = false }: { readonly verifyUserPermissions?: boolean | undefined },
): boolean {
  return verifyUserPermissions && caller.level !== 'user';
}
