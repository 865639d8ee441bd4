import { building, type Capability } from '../app/capability.ts';
import { type OrganizationReader, readOrganizations } from '../directory/organizations.ts';
import { readUserData, type UserDataCursor, type UserDataPage, type UserDataReader } from './userData.ts';

/** Where a listing over all organizations stopped. */
export interface EverywhereCursor {
  /** The sort key of the last organization that came to its end; absent before the first one. */
  readonly after?: string | undefined;
  /** How far the organization after it was read, by its internal id. */
  readonly within?: { readonly organizationKey: string; readonly cursor: UserDataCursor } | undefined;
}

/** Organizations that one page looks at, so that a page stays in time when the user has no data in most of them. */
const ORGANIZATIONS_PER_PAGE = 10;

/** Reads a user's data in all organizations of a tenant, one organization after the other. */
export class UserDataEverywhereReader {
  readonly #organizations: Pick<OrganizationReader, 'list'>;
  readonly #data: UserDataReader;

  constructor(organizations: Pick<OrganizationReader, 'list'>, data: UserDataReader) {
    this.#organizations = organizations;
    this.#data = data;
  }

  /** A page holds data of one organization. It is empty and has a `next` when the next ten organizations hold none of the user's data. */
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
      // Another organization can have taken the place of one that was deleted between two pages.
      const cursor = looked === 0 && within?.organizationKey === organization.internalId ? within.cursor : {};
      const { next: goesOn, ...data } = await this.#data.page(tenant, organization, userId, cursor, now);
      if (goesOn)
        return {
          ...data,
          next: { after: position, within: { organizationKey: organization.internalId, cursor: goesOn } },
        };
      const isEmpty = Object.values(data).every((rows) => rows.length === 0);
      if (!isEmpty || next === undefined) return { ...data, next: next === undefined ? undefined : { after: next } };
      position = next;
    }
    return { ...empty, next: { after: position } };
  }
}

const empty = { comments: [], reactions: [], recordings: [], notifications: [] };

/** Read users' data in all organizations. */
export const readUserDataEverywhere: Capability<UserDataEverywhereReader> = /* @__PURE__ */ building(
  [readOrganizations, readUserData],
  {
    grants: [],
    env: [],
    open: (env) => new UserDataEverywhereReader(readOrganizations.open(env), readUserData.open(env)),
  },
);
