import { OrganizationReader, readOrganizations } from '../directory/organizations.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { noRecords, readUserData, type UserDataCursor, UserDataReader, type UserRecords } from './userData.ts';

/** The position in a listing of a user's data in all organizations. */
export interface EverywhereCursor {
  /** The sort key of the last organization that is listed completely. Undefined if there is none. */
  readonly after?: string | undefined;
  /** The organization that is listed only in part: its internal id, and the position in its data. */
  readonly within?: { readonly organizationKey: string; readonly cursor: UserDataCursor } | undefined;
}

/**
 * The largest number of organizations that one page reads. The limit keeps a page fast if most organizations have no data of the
 * user.
 */
const ORGANIZATIONS_PER_PAGE = 10;

/** Reads the data of a user in all organizations of a tenant, one organization after another. */
export class UserDataEverywhereReader {
  readonly #organizations: OrganizationReader;
  readonly #data: UserDataReader;

  constructor(table: Table) {
    this.#organizations = new OrganizationReader(table);
    this.#data = new UserDataReader(table);
  }

  /**
   * Returns a page of the user's data in one organization. If the next ten organizations have no data of the user, the page is
   * empty and has a `next`.
   */
  async page(
    tenant: string,
    userId: string,
    { after, within }: EverywhereCursor,
    now: number,
  ): Promise<UserRecords & { readonly next: EverywhereCursor | undefined }> {
    let lastComplete = after;
    for (let organizationsRead = 0; organizationsRead < ORGANIZATIONS_PER_PAGE; organizationsRead++) {
      const {
        values: [organization],
        next,
      } = await this.#organizations.list(tenant, { limit: 1, after: lastComplete });
      if (!organization) return { ...noRecords(), next: undefined };
      // If the organization of the cursor was deleted since the previous page, the list returns the organization after it.
      const isOfCursor = organizationsRead === 0 && within?.organizationKey === organization.internalId;
      const position = isOfCursor ? within.cursor : {};
      const { next: cursor, ...data } = await this.#data.page(tenant, organization, userId, position, now);
      if (cursor)
        return {
          ...data,
          next: { after: lastComplete, within: { organizationKey: organization.internalId, cursor } },
        };
      const isEmpty = Object.values<readonly unknown[]>(data).every((rows) => rows.length === 0);
      if (!isEmpty || next === undefined) return { ...data, next: next === undefined ? undefined : { after: next } };
      lastComplete = next;
    }
    return { ...noRecords(), next: { after: lastComplete } };
  }
}

export const readUserDataEverywhere = /* @__PURE__ */ storeCapability(UserDataEverywhereReader, [
  readOrganizations,
  readUserData,
]);
