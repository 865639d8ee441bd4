import { allDocuments, listAcrossDocuments, listingCursor } from '../content/recordListing.ts';
import { DocumentReader, readDocuments } from '../directory/documents.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { RECORDS_PER_READ, searchPage } from '../directory/searchPage.ts';
import { GroupReader, readGroups } from '../directory/userGroups.ts';
import { documentResource, type ListedUser, readUsers, type Resource, UserReader } from '../directory/users.ts';
import { dict } from '../shared/collections.ts';
import type { ItemPage } from '../table/pages.ts';
import { type RecordPage } from '../table/recordPage.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';

export interface UserListOptions {
  readonly limit: number;
  /** The `next` of the previous page. Undefined for the first page. */
  readonly after: string | undefined;
  /**
   * Returns whether a user is listed. If it is undefined, all users are listed. If it is set, a page can be short or empty and
   * still have a `next`.
   */
  readonly isMatch?: ((user: ListedUser) => boolean) | undefined;
}

/**
 * The users to list: those in the contact list of the resource `from`, or those in the groups if `from` is undefined. With
 * `userIds`, only users with these ids are listed.
 */
export interface UserSelection {
  readonly from: Resource | undefined;
  readonly groupIds: readonly string[] | undefined;
  readonly userIds: readonly string[] | undefined;
}

/**
 * A page of a listing over documents ends after a certain number of read bytes. For each user that a search checks, this many
 * bytes are added to that number. A page therefore checks a few thousand users at most.
 */
const SEARCHED_USER_BYTES = 8_000;

/** A user in the contact list of a document. */
export interface UserOfDocument {
  /** The document id that the customer chose. */
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

  /** Returns a page of the selected users, ordered by user id, or in the order of `userIds`. Throws NOT_FOUND if a group does not exist. */
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

  /**
   * Returns a page of the contact lists of all documents, ordered by document and then by user. A page can be short and still
   * have a `next`.
   */
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

/** Returns the first `limit` matching users on a page of a contact list. */
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
