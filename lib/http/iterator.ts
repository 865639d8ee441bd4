import type { ListPosition } from './listPosition.ts';
import type { ApiKeyCaller } from '../app/endpoint.ts';
import { openPageToken, sealPageToken } from './pageToken.ts';

/**
 * The iterators of one listing, which are page tokens with a direction: `from` is the position that the request's
 * iterator names, `at` makes the iterator of a position (null where there is none). `of` names the endpoint and what
 * chooses its items.
 */
export function iterators(
  caller: ApiKeyCaller,
  of: readonly string[],
  request: { iterator?: string | undefined },
  now: number,
) {
  return {
    from:
      request.iterator === undefined
        ? undefined
        : (JSON.parse(openPageToken(caller.pageKey, of, request.iterator, now, 'iterator')) as ListPosition),
    at: (position: ListPosition | undefined): string | null =>
      position ? sealPageToken(caller.pageKey, of, JSON.stringify(position), now) : null,
  };
}
