import type { AccessRole, UserAccess } from '../../app/rules/access.ts';

export interface Viewer {
  readonly userId: string;
  /**
   * The lowest role on the resources that the request names. Undefined if the call needs no role, and for a stranger.
   */
  readonly role: AccessRole | undefined;
  readonly access: UserAccess;
  readonly strangers: ReadonlySet<string>;
}
