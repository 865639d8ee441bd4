import type { AccessRole, UserAccess } from '../../app/rules/access.ts';

export interface Viewer {
  readonly userId: string;
  /** The lowest on the documents of the request. */
  readonly role: AccessRole | undefined;
  readonly access: UserAccess;
  readonly strangers: ReadonlySet<string>;
}
