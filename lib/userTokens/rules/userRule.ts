import type { AccessRole } from '../../directory/rules/access.ts';

/** A field of a request that names the acting user. */
export interface ActorField {
  /** The way to the field from `data`. `*` stands for every item of a list: `comments.*.from`. */
  readonly path: string;
  /** `user` is an object with `userId`, `users` a list of such objects, `userIds` a list of ids. */
  readonly holds: 'user' | 'users' | 'userId' | 'userIds';
  /** Whether a missing field stays missing. By default it becomes the user of the token. */
  readonly keepMissing?: true;
}

/** What a user token needs to call an endpoint. */
export interface UserRule {
  /**
   * The role on the resources that the request names. `self` needs none on the organization: the endpoint reads and
   * changes only what belongs to the user. On named documents and folders it needs the role viewer.
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
