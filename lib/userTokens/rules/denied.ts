import { ApiError } from '../../shared/errors.ts';

/** Returns the error for a user without the needed access. It does not say whether the resource exists. */
export function accessDenied(): ApiError {
  return new ApiError('PERMISSION_DENIED', 'The user has no access to this resource, or a role that is not enough.');
}
