import type { ApiKeyCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { openPageToken, sealPageToken } from './pageToken.ts';

interface PageRequest {
  readonly pageToken?: string | undefined;
}

/**
 * The page tokens of one listing: `after` is where the request's token says that the last page ended, `next` makes the
 * token of the following one (null at the end). `of` names the endpoint and what chooses its items.
 */
export function paging(
  caller: ApiKeyCaller | WorkspaceCaller,
  of: readonly string[],
  request: PageRequest,
  now: number,
) {
  return {
    after: request.pageToken === undefined ? undefined : openPageToken(caller.pageKey, of, request.pageToken, now),
    next: (cursor: string | undefined): string | null =>
      cursor === undefined ? null : sealPageToken(caller.pageKey, of, cursor, now),
  };
}
