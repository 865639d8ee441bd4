import { pathInFamily } from '../../lib/app/endpoint.ts';

export const DEFAULT_FUNCTION = 'default';

/**
 * Returns a text in Pascal case: `SendLoginLink` for `send-login-link`, `AuthPermissionsGet` for
 * `auth/permissions/get`.
 */
export function pascal(text: string): string {
  return text
    .split(/[^a-zA-Z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** Returns the logical id in the stack of the family: `PermissionsGet` for `/v2/auth/permissions/get`. */
export function functionName(path: string): string {
  return pascal(pathInFamily(path)) || 'Root';
}
