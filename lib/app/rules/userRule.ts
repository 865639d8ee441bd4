import type { AccessRole } from './access.ts';

export interface ActorField {
  /** The path in `data`. `*` stands for each item of a list, as in `comments.*.from`. */
  readonly path: string;
  /** `user` is an object with `userId`, and `userId` is an id. */
  readonly holds: 'user' | 'users' | 'userId' | 'userIds';
  /** A missing field stays missing. Otherwise it gets the user of the token. */
  readonly keepMissing?: true;
}

export interface PeopleField {
  readonly path: string;
  readonly holds: 'user' | 'users' | 'tagged' | 'userIds';
}

export interface UserRule {
  /**
   * `self` needs a grant in the organization, so that organizations cannot be guessed, and the role viewer on named
   * resources.
   */
  readonly needs: AccessRole | 'self';
  /** `run` also gets users without any access, and must answer all of them alike (`isStranger`). */
  readonly answersStrangers?: true;
  /** A `selection` has `documentId`, `documentIds` and `folderId` if given. Otherwise it is the organization. */
  readonly on: 'document' | 'documents' | 'selection' | 'organization';
  /** Another user in these fields is PERMISSION_DENIED. */
  readonly actor?: readonly ActorField[];
  readonly people?: readonly PeopleField[];
  readonly refuses?: readonly string[];
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
