import { ApiError } from '../shared/errors.ts';

/** NOT_FOUND: there is no editor under an id. */
export function unknownEditor(): ApiError {
  return new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.');
}
