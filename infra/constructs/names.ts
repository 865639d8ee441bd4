import { pathInFamily } from '../../lib/app/endpoint.ts';

/** `SendLoginLink` of `send-login-link`, `AuthPermissionsGet` of `auth/permissions/get`. */
export function pascal(text: string): string {
  return text
    .split(/[^a-zA-Z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

/** `PermissionsGet` of `/v2/auth/permissions/get`: the logical id of its function inside the family's stack. */
export function functionName(path: string): string {
  return pascal(pathInFamily(path)) || 'Root';
}
