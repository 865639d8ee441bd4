import type { AccessRole, UserAccess } from '../../app/rules/access.ts';

/** The user of a user token, who reads or changes content. */
export interface Viewer {
  readonly userId: string;
  /** The user's lowest role on the documents of the request. */
  readonly role: AccessRole | undefined;
  /** The user's access by stored grants and by the grants in the token. */
  readonly access: UserAccess;
  readonly strangers: ReadonlySet<string>;
}
