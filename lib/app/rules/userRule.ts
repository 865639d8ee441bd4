import type { AccessRole } from './access.ts';

export interface ActorField {
  /** The path in `data`. `*` stands for each item of a list, as in `comments.*.from`. */
  readonly path: string;
  /** `user` is an object with `userId`, `users` a list of such objects, `userId` an id, `userIds` a list of ids. */
  readonly holds: 'user' | 'users' | 'userId' | 'userIds';
  /** Otherwise the user of the token is filled in. */
  readonly keepMissing?: true;
}

export interface PeopleField {
  readonly path: string;
  readonly holds: 'user' | 'users' | 'tagged' | 'userIds';
}

export interface UserRule {
  /**
   * `self` needs a grant in the organization, stored or in the token, so that organizations cannot be guessed, and the
   * role viewer on named documents and folders.
   */
  readonly needs: AccessRole | 'self';
  /** `run` also gets users without any access, and must answer all of them alike (`isStranger`). */
  readonly answersStrangers?: true;
  /**
   * - `document`: `documentId`, required
   * - `documents`: `documentId` or `documentIds`
   * - `selection`: `documentId`, `documentIds` and `folderId` if given, otherwise the organization
   */
  readonly on: 'document' | 'documents' | 'selection' | 'organization';
  /** Another user in these fields is PERMISSION_DENIED. */
  readonly actor?: readonly ActorField[];
  readonly people?: readonly PeopleField[];
  /**
   * Only the customer's servers may send these. With a user token, any value except `false` and null is
   * PERMISSION_DENIED.
   */
  readonly refuses?: readonly string[];
  /** Left out with a user token, as if the request did not have them. */
  readonly omits?: readonly string[];
}

export type CleanMarkup = (
  markup: string,
  policy: { readonly mayShow: (url: URL) => boolean; readonly maxBytes: number },
) => Promise<{ readonly markup: string } | { readonly fault: string }>;

export interface ContentPolicy {
  readonly allowedDomains: readonly string[];
  readonly cleanMarkup: CleanMarkup | undefined;
}
