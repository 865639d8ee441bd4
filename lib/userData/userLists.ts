import { allDocuments, listAcrossDocuments, listingCursor } from '../content/recordListing.ts';
import { DocumentReader, readDocuments } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { RECORDS_PER_READ, searchPage } from '../directory/searchPage.ts';
import { GroupReader, readGroups } from '../directory/userGroups.ts';
import { documentResource, type ListedUser, readUsers, type Resource, UserReader } from '../directory/users.ts';
import { dict } from '../shared/collections.ts';
import type { ItemPage } from '../table/pages.ts';
import type { RecordPage } from '../table/recordPage.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';

export interface UserListOptions {
  readonly limit: number;
  readonly after: string | undefined;
  /** With this filter, a page can be short although more follow. */
  readonly isMatch?: ((user: ListedUser) => boolean) | undefined;
}

/** The contact list of `from`, or the members of the groups. */
export interface UserSelection {
  readonly from: Resource | undefined;
  readonly groupIds: readonly string[] | undefined;
  readonly userIds: readonly string[] | undefined;
}

/** What a searched user counts towards the bytes that end a page: a page checks a few thousand users at most. */
const SEARCHED_USER_BYTES = 8_000;

export interface UserOfDocument {
  readonly documentId: string;
  readonly user: ListedUser;
}

export class UserLists {
  readonly #users: UserReader;
  readonly #documents: DocumentReader;
  readonly #groups: GroupReader;

  constructor(table: Table) {
    this.#users = new UserReader(table);
    this.#documents = new DocumentReader(table);
    this.#groups = new GroupReader(table);
  }

  /** Ordered by user id, or as `userIds`. Throws NOT_FOUND for an unknown group. */
  async page(
    scope: OrganizationScope,
    { from, groupIds = [], userIds }: UserSelection,
    options: UserListOptions,
  ): Promise<ItemPage<ListedUser>> {
    const groupKeys = from ? [] : await this.#groups.requireKeys(scope, groupIds);
    if (!userIds)
      return searchPage((after, count) => {
        const page = { limit: count, after };
        return from
          ? this.#users.contactRecords(scope, from, page)
          : this.#groups.memberRecords(scope, groupKeys, page);
      }, options);
    const users = from
      ? await this.#users.contactsNamed(scope, from, userIds)
      : await this.#groups.membersNamed(scope, groupKeys, userIds);
    return { values: options.isMatch ? users.filter(options.isMatch) : users, next: undefined };
  }

  /** Ordered by document, then by user. A page can be short although more follow. */
  async ofDocuments(
    scope: OrganizationScope,
    { limit, after, isMatch }: UserListOptions,
  ): Promise<ItemPage<UserOfDocument>> {
    const { values, next } = await listAcrossDocuments({
      documents: allDocuments(this.#documents, scope),
      from: listingCursor.position(after),
      limit,
      read: async (document, options) => {
        const resource = documentResource({ internalId: document.scope.documentKey, folder: document.folder });
        const contacts = await this.#users.contactRecords(
          scope,
          resource,
          isMatch ? { ...options, limit: RECORDS_PER_READ } : options,
        );
        const page = isMatch ? filterUsers(contacts, options.limit, isMatch) : contacts;
        const toUserOfDocument = (user: ListedUser) => ({ documentId: document.documentId, user });
        return { ...page, records: page.records.map(({ key, value }) => ({ key, value: toUserOfDocument(value) })) };
      },
    });
    return { values, next: listingCursor.of(next) };
  }
}

function filterUsers(
  { records, next, bytes }: RecordPage<ListedUser>,
  limit: number,
  isMatch: (user: ListedUser) => boolean,
): RecordPage<ListedUser> {
  const matching = records.filter(({ value }) => isMatch(value));
  const last = matching.length > limit ? matching[limit - 1] : undefined;
  return {
    records: matching.slice(0, limit),
    next: last ? last.key : next,
    bytes: bytes + records.length * SEARCHED_USER_BYTES,
  };
}

export function groupByDocument<U>(
  users: readonly { readonly documentId: string; readonly user: U }[],
): Record<string, U[]> {
  const map = dict<U[]>();
  for (const { documentId, user } of users) (map[documentId] ??= []).push(user);
  return map;
}

export const listUsers = /* @__PURE__ */ storeCapability(UserLists, [readUsers, readDocuments, readGroups]);
