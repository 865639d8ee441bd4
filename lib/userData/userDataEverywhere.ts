import { OrganizationReader, readOrganizations } from '../directory/organizations.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { noRecords, readUserData, type UserDataCursor, UserDataReader, type UserRecords } from './userData.ts';

export interface EverywhereCursor {
  /** The position of the last organization that is listed completely. */
  readonly after?: string | undefined;
  /** The organization that is listed in part. */
  readonly within?: { readonly organizationKey: string; readonly cursor: UserDataCursor } | undefined;
}

/** Keeps a page fast if most organizations have no data of the user. */
const ORGANIZATIONS_PER_PAGE = 10;

export class UserDataEverywhereReader {
  readonly #organizations: OrganizationReader;
  readonly #data: UserDataReader;

  constructor(table: Table) {
    this.#organizations = new OrganizationReader(table);
    this.#data = new UserDataReader(table);
  }

  /** Lists one organization. The page is empty if the next ten have no data of the user. */
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
      // If the organization of the cursor is deleted, the list returns the one after it.
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
