import * as z from 'zod';
import type { Opened } from '../app/capability.ts';
import type { readDocuments } from '../directory/documents.ts';
import type { readFolders } from '../directory/folders/folders.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { requireResource } from '../directory/resources.ts';
import {
  type InvolvedDocuments,
  InvolvedFields,
  limitInvolvedUsers,
  toInvolvedFields,
} from '../directory/rules/involvedDocuments.ts';
import { matchesUser } from '../directory/rules/users.ts';
import type { ListedUser } from '../directory/users.ts';
import { definedFields, dict, distinct } from '../shared/collections.ts';
import {
  defineNamedSchema,
  documentOrFolder,
  Id,
  limits,
  list,
  Name,
  notTogether,
  optional,
  PageSize,
  PageToken,
  StoredProfile,
} from '../shared/schema.ts';
import { groupByDocument, type listUsers } from './userLists.ts';

export const UserResponse = /* @__PURE__ */ defineNamedSchema('UserProfile', () =>
  StoredProfile.extend({ userId: z.string(), ...InvolvedFields }).describe(
    'The stored profile of a user, the same in all organizations.',
  ),
);
type UserResponse = z.output<typeof UserResponse>;

export const UserQuery = z
  .object({
    organizationId: Id,
    documentId: optional(Id).describe('Lists the contact list of this document. Required with user tokens.'),
    folderId: optional(Id).describe('Lists the contact list of this folder.'),
    userIds: optional(list(Id, limits.readIds)).describe('Selects these users of the list.'),
    organizationUserGroupIds: optional(list(Id, limits.readIds)).describe(
      'Lists the users of these groups, each user once, instead of a contact list.',
    ),
    allDocuments: optional(z.boolean()).describe(
      'Lists the contact lists of all documents. A user is listed once for each document. By default false.',
    ),
    groupByDocumentId: optional(z.boolean()).describe(
      'Returns the users as a map by document id instead of a list. By default false.',
    ),
    searchKey: optional(Name.check(z.refine((text) => text.trim() !== '', { error: 'must not be blank' }))).describe(
      'Selects users with each word of this text in the name, the e-mail address or the user id, ignoring case. For user tokens, addresses are not searched.',
    ),
    includeInvolvedDocuments: optional(z.boolean()).describe(
      'Adds the ids of the documents where each user wrote, is mentioned, reacted, recorded or is notified. Needs 1 to 5 `userIds`.',
    ),
    includeInvolvedDocumentsCount: optional(z.boolean()).describe(
      'Adds the number of these documents. Needs 1 to 5 `userIds`.',
    ),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  })
  .check(
    documentOrFolder,
    notTogether('organizationUserGroupIds', 'documentId', 'folderId', 'allDocuments', 'groupByDocumentId'),
    notTogether('allDocuments', 'documentId', 'folderId', 'userIds'),
    limitInvolvedUsers('includeInvolvedDocuments', 'includeInvolvedDocumentsCount'),
    z.refine(
      ({ groupByDocumentId, documentId, allDocuments }) =>
        !groupByDocumentId || documentId !== undefined || allDocuments === true,
      { path: ['groupByDocumentId'], error: 'must be given together with documentId or allDocuments: true' },
    ),
  );

export interface UserQueryStores extends Opened<{
  documents: typeof readDocuments;
  folders: typeof readFolders;
  lists: typeof listUsers;
}> {
  /** In the order of `userIds`. */
  readonly involved: {
    read(scope: OrganizationScope, userIds: readonly string[]): Promise<readonly InvolvedDocuments[]>;
  };
}

export interface UserListing {
  /** A page token is valid for the same listing only. */
  readonly id: readonly string[];
  read(page: { readonly limit: number; readonly after: string | undefined }): Promise<{
    data: UserResponse[] | Record<string, UserResponse[]>;
    next: string | undefined;
  }>;
}

/** The map has lists by document id. */
type UserData = UserResponse[] | Record<string, UserResponse[]>;

/** Other users may not see the remaining fields, such as the e-mail address. */
export function toPublicUsers(data: UserData): UserData {
  const toPublic = ({ userId, name, photoUrl, color, textColor, initial }: UserResponse) => ({
    userId,
    ...definedFields({ name, photoUrl, color, textColor, initial }),
  });
  if (Array.isArray(data)) return data.map(toPublic);
  return dict(Object.entries(data).map(([documentId, users]) => [documentId, users.map(toPublic)] as const));
}

/**
 * If `isPublic` is true, the search ignores e-mail addresses, which the caller could otherwise guess. Throws NOT_FOUND
 * for an unknown document or folder, and FAILED_PRECONDITION for a document that a migration still fills.
 */
export async function openUserListing(
  stores: UserQueryStores,
  scope: OrganizationScope,
  query: z.output<typeof UserQuery>,
  { isPublic }: { readonly isPublic: boolean },
): Promise<UserListing> {
  const {
    documentId,
    groupByDocumentId = false,
    searchKey,
    includeInvolvedDocuments,
    includeInvolvedDocumentsCount,
  } = query;
  const groupIds = query.organizationUserGroupIds && distinct(query.organizationUserGroupIds);
  const userIds = query.userIds && distinct(query.userIds);
  const matches = searchKey === undefined ? undefined : matchesUser(searchKey);
  const isMatch = isPublic && matches ? (user: ListedUser) => matches({ ...user, email: undefined }) : matches;
  const searchId = [
    ...(searchKey === undefined ? [] : ['search', searchKey]),
    ...(userIds ? ['users', ...userIds] : []),
  ];
  if (!groupIds && query.allDocuments)
    return {
      id: [scope.organizationKey, 'documents', ...searchId],
      async read(page) {
        const { values, next } = await stores.lists.ofDocuments(scope, { ...page, isMatch });
        const users = values.map(({ documentId: id, user }) => ({ documentId: id, user: toUserResponse(user) }));
        return { data: groupByDocumentId ? groupByDocument(users) : users.map(({ user }) => user), next };
      },
    };
  const from = groupIds ? undefined : await requireResource(stores, scope, query);
  return {
    id: [...(from ? [from.internalId] : [scope.organizationKey, 'groups', ...(groupIds ?? [])]), ...searchId],
    async read(page) {
      const { values, next } = await stores.lists.page(scope, { from, groupIds, userIds }, { ...page, isMatch });
      const users = await withInvolvedDocuments(values);
      return { data: groupByDocumentId && documentId !== undefined ? dict([[documentId, users]]) : users, next };
    },
  };

  async function withInvolvedDocuments(users: readonly ListedUser[]): Promise<UserResponse[]> {
    if (!includeInvolvedDocuments && !includeInvolvedDocumentsCount) return users.map(toUserResponse);
    const involved = await stores.involved.read(
      scope,
      users.map(({ userId }) => userId),
    );
    const fields = { withIds: includeInvolvedDocuments, withCount: includeInvolvedDocumentsCount };
    return users.map((user, index) => ({ ...toUserResponse(user), ...toInvolvedFields(involved[index], fields) }));
  }
}

export function toUserResponse(user: ListedUser): UserResponse {
  return UserResponse.parse(user);
}
