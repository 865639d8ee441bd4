import { type Capability, combine } from '../app/capability.ts';
import { type OrganizationReader, readOrganizations } from '../directory/organizations.ts';
import { readUserData, type UserDataCursor, type UserDataPage, type UserDataReader } from './userData.ts';

/** The position of a listing over all organizations. */
export interface EverywhereCursor {
  /** The sort key of the last complete organization; undefined before the first one. */
  readonly after?: string | undefined;
  /** The position in the next organization, which has this internal id. */
  readonly within?: { readonly organizationKey: string; readonly cursor: UserDataCursor } | undefined;
}

/** The organizations that one page reads: a page stays fast when the user has no data in most of them. */
const ORGANIZATIONS_PER_PAGE = 10;

/** Reads the data of a user in all organizations of a tenant, one organization after the other. */
export class UserDataEverywhereReader {
  readonly #organizations: Pick<OrganizationReader, 'list'>;
  readonly #data: UserDataReader;

  constructor(organizations: Pick<OrganizationReader, 'list'>, data: UserDataReader) {
    this.#organizations = organizations;
    this.#data = data;
  }

  /** Reads a page with data of one organization. The page is empty and has a `next` when ten organizations have no data of the user. */
  async page(
    tenant: string,
    userId: string,
    { after, within }: EverywhereCursor,
    now: number,
  ): Promise<Omit<UserDataPage, 'next'> & { readonly next: EverywhereCursor | undefined }> {
    let position = after;
    for (let looked = 0; looked < ORGANIZATIONS_PER_PAGE; looked++) {
      const {
        values: [organization],
        next,
      } = await this.#organizations.list(tenant, { limit: 1, after: position });
      if (!organization) return { ...empty, next: undefined };
      // The organization of the cursor can be deleted since: then the list returns another one.
      const cursor = looked === 0 && within?.organizationKey === organization.internalId ? within.cursor : {};
      const { next: rest, ...data } = await this.#data.page(tenant, organization, userId, cursor, now);
      if (rest)
        return {
          ...data,
          next: { after: position, within: { organizationKey: organization.internalId, cursor: rest } },
        };
      const isEmpty = Object.values(data).every((rows) => rows.length === 0);
      if (!isEmpty || next === undefined) return { ...data, next: next === undefined ? undefined : { after: next } };
      position = next;
    }
    return { ...empty, next: { after: position } };
  }
}

const empty = { comments: [], reactions: [], recordings: [], notifications: [] };

export const readUserDataEverywhere: Capability<UserDataEverywhereReader> = /* @__PURE__ */ combine(
  { organizations: readOrganizations, data: readUserData },
  ({ organizations, data }) => new UserDataEverywhereReader(organizations, data),
);
