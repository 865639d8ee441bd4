import type { AccessRole } from './access.ts';

export interface ActorField {
  /** The path in `data`. `*` stands for each item of a list, as in `comments.*.from`. */
  readonly path: string;
  /** `user` is an object with `userId`, and `userId` is an id. */
  readonly holds: 'user' | 'users' | 'userId' | 'userIds';
  /** A missing field stays missing. Without `keepMissing`, it gets the user of the token. */
  readonly keepMissing?: true;
}

export interface PeopleField {
  readonly path: string;
  readonly holds: 'user' | 'users' | 'tagged' | 'userIds';
}

export interface UserRule {
  /**
   * `self` needs the role viewer on named documents and folders. If the request names none, it needs a grant in the
   * organization, so that organizations cannot be guessed.
   */
  readonly needs: AccessRole | 'self';
  /** `run` also gets users whom the rule would refuse, and must answer all of them alike (`isStranger`). */
  readonly answersStrangers?: true;
  /**
   * A `selection` is the documents and the folder in `documentId`, `documentIds` and `folderId`, or without these
   * fields the organization.
   */
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
