import { combine } from '../app/capability.ts';
import { dict } from '../shared/collections.ts';
import { mergePages } from './rules/userLists.ts';
import { ApiError } from '../shared/errors.ts';
import {
  allDocuments,
  type RecordPage,
  listAcrossDocuments,
  listingCursor,
  type ListedDocument,
} from '../content/recordListing.ts';
import { type DocumentReader, readDocuments } from './documents.ts';
import type { OrganizationScope } from './folders/folders.ts';
import { RECORDS_PER_READ, searchPage } from './searchPage.ts';
import { GroupMemberEntity, type GroupReader, readGroups } from './userGroups.ts';
import { type ListedUser, readUsers, type Resource, type UserReader } from './users.ts';

export interface ListOptions {
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after: string | undefined;
  /** Leaves out the other users. A page can then be short or empty and still have a `next`. */
  readonly isMatch?: ((user: ListedUser) => boolean) | undefined;
}

/** A page of users, and the position to continue after; undefined at the end. */
export interface UserPage {
  readonly values: ListedUser[];
  readonly next: string | undefined;
}

/** The users of a listing: in the contact list of a resource or in groups. With `userIds`, only these users. */
export interface UserSelection {
  readonly from: Resource | undefined;
  readonly groupIds: readonly string[] | undefined;
  readonly userIds: readonly string[] | undefined;
}

/**
 * The bytes that a searched user counts towards the limit of a listing over documents, so that a page reads a few
 * thousand users.
 */
const SEARCHED_USER_BYTES = 8_000;

/** A user in the contact list of a document. */
export interface UserOfDocument {
  /** The customer's id. */
  readonly documentId: string;
  readonly user: ListedUser;
}

interface UserListsDeps {
  readonly users: UserReader;
  readonly documents: DocumentReader;
  readonly groups: GroupReader;
}

/** Lists users of resources, groups and documents. */
export class UserLists {
  readonly #deps: UserListsDeps;

  constructor(deps: UserListsDeps) {
    this.#deps = deps;
  }

  /** Returns a page of a selection of users. Throws NOT_FOUND if a group does not exist. */
  async page(
    scope: OrganizationScope,
    { from, groupIds = [], userIds }: UserSelection,
    options: ListOptions,
  ): Promise<UserPage> {
    if (!userIds) return from ? this.ofResource(scope, from, options) : this.ofGroups(scope, groupIds, options);
    const users = from
      ? await this.#deps.users.contactsNamed(scope, from, userIds)
      : await this.namedInGroups(scope, groupIds, userIds);
    return { values: options.isMatch ? users.filter(options.isMatch) : users, next: undefined };
  }

  /** Returns a page of the contact list of a resource, by user id. */
  async ofResource(
    scope: OrganizationScope,
    resource: Resource,
    { limit, after, isMatch }: ListOptions,
  ): Promise<UserPage> {
    const { users } = this.#deps;
    if (!isMatch) return users.contacts(scope, resource, { limit, after });
    return searchPage((from) => users.contactRecords(scope, resource, { limit: RECORDS_PER_READ, after: from }), {
      limit,
      after,
      isMatch,
    });
  }

  /**
   * Returns a page of the users in any of the groups, each once, by user id. Throws NOT_FOUND if a group does not
   * exist.
   */
  async ofGroups(
    scope: OrganizationScope,
    groupIds: readonly string[],
    { limit, after, isMatch }: ListOptions,
  ): Promise<UserPage> {
    const { groups } = this.#deps;
    const read = async (from: string | undefined, most: number) => {
      const pages = await Promise.all(
        groupIds.map((groupId) => groups.members(scope, groupId, { limit: most, after: from })),
      );
      const { values, next } = mergePages(
        pages.map((page) => ({
          values: page.values
            .map((value) => ({ key: GroupMemberEntity.key({ ...scope, groupKey: '', ...value }).SK, value }))
            .map((record) => ({ key: record.key, value: record })),
          next: page.next,
        })),
        most,
      );
      return { records: values, next };
    };
    const [found, page] = await Promise.all([
      groups.getByIds(scope, groupIds),
      isMatch
        ? searchPage((from) => read(from, Math.ceil(RECORDS_PER_READ / groupIds.length)), { limit, after, isMatch })
        : read(after, limit).then(({ records, next }) => ({ values: records.map(({ value }) => value), next })),
    ]);
    if (found.includes(undefined)) throw unknownGroup();
    return page;
  }

  /**
   * Returns those of the users that are in any of the groups, in the order of the ids. Throws NOT_FOUND if a group does
   * not exist.
   */
  async namedInGroups(
    scope: OrganizationScope,
    groupIds: readonly string[],
    userIds: readonly string[],
  ): Promise<ListedUser[]> {
    const found = await this.#deps.groups.getByIds(scope, groupIds);
    if (found.includes(undefined)) throw unknownGroup();
    return this.#deps.groups.membersNamed(
      scope,
      found.flatMap((group) => group?.internalId ?? []),
      userIds,
    );
  }

  /**
   * Returns a page of the contact lists of all documents, by document and then by user. A short page can have a `next`.
   */
  async ofDocuments(
    scope: OrganizationScope,
    { limit, after, isMatch }: ListOptions,
  ): Promise<{ values: UserOfDocument[]; next: string | undefined }> {
    const { users, documents } = this.#deps;
    const { values, next } = await listAcrossDocuments({
      documents: allDocuments(documents, scope),
      from: listingCursor.position(after),
      limit,
      read: async (document, options) => {
        const resource = {
          resourceType: 'document' as const,
          internalId: document.scope.documentKey,
          folderId: () => this.#folderOf(scope, document),
        };
        const read = await users.contactRecords(
          scope,
          resource,
          isMatch ? { ...options, limit: RECORDS_PER_READ } : options,
        );
        const { records, ...rest } = isMatch ? filterUsers(read, options.limit, isMatch) : read;
        return {
          ...rest,
          records: records.map(({ key, value }) => ({ key, value: { documentId: document.documentId, user: value } })),
        };
      },
    });
    return { values, next: listingCursor.of(next) };
  }

  async #folderOf(scope: OrganizationScope, { documentId }: ListedDocument): Promise<string | undefined> {
    const [document] = await this.#deps.documents.getByIds(scope, [documentId]);
    return document?.folder?.folderId;
  }
}

function unknownGroup(): ApiError {
  return new ApiError('NOT_FOUND', 'Organization user group does not exist');
}

/** Returns the first `limit` matching users of a part of a contact list. */
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

export const listUsers = /* @__PURE__ */ combine(
  { users: readUsers, documents: readDocuments, groups: readGroups },
  (deps) => new UserLists(deps),
);
