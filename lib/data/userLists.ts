import { building, type Capability } from '../capability.ts';
import { dict } from '../dict.ts';
import { mergePages } from '../domain/userLists.ts';
import { ApiError } from '../errors.ts';
import { everyDocument, walk, walkCursor, type WalkedDocument } from './content/walk.ts';
import { type DocumentReader, readDocuments } from './documents.ts';
import type { Place } from './folders.ts';
import { GroupMemberEntity, type GroupReader, readGroups } from './userGroups.ts';
import { type ListedUser, readUsers, type UserReader } from './users.ts';

export interface ListOptions {
  readonly limit: number;
  /** As `next` gave it. */
  readonly after: string | undefined;
}

/** Users beside the document, by the customer's id, in whose contact list they are. */
export interface UserOfDocument {
  readonly documentId: string;
  readonly user: ListedUser;
}

interface UserListsDeps {
  readonly users: UserReader;
  readonly documents: DocumentReader;
  readonly groups: GroupReader;
}

/** Lists of users that come from several places. */
export class UserLists {
  readonly #deps: UserListsDeps;

  constructor(deps: UserListsDeps) {
    this.#deps = deps;
  }

  /** A page of the users in any of the groups under the customer's ids, each once, by user id. NOT_FOUND when there is no such group. */
  async ofGroups(place: Place, groupIds: readonly string[], { limit, after }: ListOptions): Promise<{ values: ListedUser[]; next: string | undefined }> {
    const { groups } = this.#deps;
    const [found, pages] = await Promise.all([groups.named(place, groupIds), Promise.all(groupIds.map((groupId) => groups.members(place, groupId, { limit, after })))]);
    if (found.includes(undefined)) throw new ApiError('NOT_FOUND', 'Organization user group does not exist');
    return mergePages(pages.map(({ values, next }) => ({
      values: values.map((value) => ({ key: GroupMemberEntity.key({ ...place, group: '', ...value }).SK, value })),
      next,
    })), limit);
  }

  /** A page of the contact lists of all documents of an organization: by document, then by user. It can end early, then with a `next`. */
  async ofDocuments(place: Place, { limit, after }: ListOptions): Promise<{ values: UserOfDocument[]; next: string | undefined }> {
    const { users, documents } = this.#deps;
    const { values, next } = await walk({
      documents: everyDocument(documents, place),
      from: walkCursor.position(after),
      limit,
      read: async (document, options) => {
        const resource = { resourceType: 'document' as const, internalId: document.place.document, folderId: () => this.#folderOf(place, document) };
        const { records, ...rest } = await users.contactRecords(place, resource, options);
        return { ...rest, records: records.map(({ key, value }) => ({ key, value: { documentId: document.documentId, user: value } })) };
      },
    });
    return { values, next: walkCursor.of(next) };
  }

  async #folderOf(place: Place, { documentId }: WalkedDocument): Promise<string | undefined> {
    const [document] = await this.#deps.documents.named(place, [documentId]);
    return document?.folder?.folderId;
  }
}

/** The users by document. */
export function byDocument<U>(users: readonly { readonly documentId: string; readonly user: U }[]): Record<string, U[]> {
  const map = dict<U[]>();
  for (const { documentId, user } of users) (map[documentId] ??= []).push(user);
  return map;
}

export const listUsers: Capability<UserLists> = /* @__PURE__ */ building([readUsers, readDocuments, readGroups], {
  grants: [],
  env: [],
  open: (env) => new UserLists({ users: readUsers.open(env), documents: readDocuments.open(env), groups: readGroups.open(env) }),
});
