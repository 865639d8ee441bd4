import type { AccessRole } from '../../directory/rules/access.ts';

/** A field of a request that names the acting user. */
export interface ActorField {
  /** The path of the field in `data`. `*` stands for every item of a list: `comments.*.from`. */
  readonly path: string;
  /** `user` is an object with `userId`, `users` a list of such objects, `userIds` a list of ids. */
  readonly holds: 'user' | 'users' | 'userId' | 'userIds';
  /** Whether a missing field stays missing. By default, a missing field becomes the user of the token. */
  readonly keepMissing?: true;
}

/** What a user token needs to call an endpoint. */
export interface UserRule {
  /**
   * The role that the user needs on the resources of the request. `self` needs no role on the organization, because the
   * endpoint reads and changes only data of the user. On named documents and folders, `self` needs the role viewer.
   */
  readonly needs: AccessRole | 'self';
  /**
   * The resources that the request names:
   * - `document`: `documentId`, which is required
   * - `documents`: each of `documentIds`, which is required
   * - `selection`: `documentId`, `documentIds` and `folderId` if given, otherwise the organization
   * - `organization`: `organizationId`
   */
  readonly on: 'document' | 'documents' | 'selection' | 'organization';
  /** The fields that name the acting user. Another user in them is PERMISSION_DENIED. */
  readonly actor?: readonly ActorField[];
  /** Fields that only the customer's servers may send. Any value but `false` is PERMISSION_DENIED. */
  readonly refuses?: readonly string[];
}
