import type { AccessRole, UserAccess } from '../../app/rules/access.ts';

/** The user of a user token. */
export interface Viewer {
  readonly userId: string;
  /** The lowest role on the documents of the request. */
  readonly role: AccessRole | undefined;
  /** By stored grants and those of the token. */
  readonly access: UserAccess;
  readonly strangers: ReadonlySet<string>;
}
