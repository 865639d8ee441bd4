import { ApiError } from './errors.ts';

/** Clients recognize this text, so it must stay the same. */
export const INVALID_USER_TOKEN = 'Invalid or expired user token.';

/** The error is the same for resources that do not exist, so ids cannot be guessed. */
export function accessDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'The user has no access to this resource, or a role that is not enough.');
}
