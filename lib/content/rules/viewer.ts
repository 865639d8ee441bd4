import type { AccessRole, UserAccess } from '../../directory/rules/access.ts';

/** The user of a user token, who reads or changes content. */
export interface Viewer {
  readonly userId: string;
  /** The lowest role on the documents of the request. */
  readonly role: AccessRole | undefined;
  /** The stored grants and those of the token. */
  readonly access: UserAccess;
}
