import { building, type Capability } from '../app/capability.ts';
import { folderChain, hasEnded } from './rules/access.ts';
import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { type DocumentReader, type PlacedDocument, readDocuments } from './documents.ts';
import { departuresOf } from './folders/folderDepartures.ts';
import type { OrganizationScope } from './folders/folders.ts';
import { openTable, type Table } from '../table/table.ts';
import { ContactEntity, documentResource, readUsers, type Resource, UserEntity, type UserReader } from './users.ts';

/** Documents whose contact lists one call counts: each is a query of its own. */
export const MOST_COUNTED_DOCUMENTS = 2_000;
const LISTED = 1_000;
const PARALLEL = 16;

interface CounterDeps {
  readonly table: Table;
  readonly users: UserReader;
  readonly documents: DocumentReader;
}

/** Counts users in contact lists. With a user id, only this user counts. */
export class UserCounter {
  readonly #deps: CounterDeps;

  constructor(deps: CounterDeps) {
    this.#deps = deps;
  }

  /** How many users are in the contact list of a resource, or 1 or 0 for one user. */
  async of(scope: OrganizationScope, resource: Resource, userId: string | undefined): Promise<number> {
    const { users } = this.#deps;
    return userId === undefined
      ? users.count(scope, resource)
      : (await users.contactsNamed(scope, resource, [userId])).length;
  }

  /** The sum over the contact lists of all documents: a user counts once for each document. FAILED_PRECONDITION for more than 2,000 documents. */
  async ofAllDocuments(scope: OrganizationScope, userId: string | undefined): Promise<number> {
    let [count, seen, after]: [number, number, string | undefined] = [0, 0, undefined];
    do {
      const page = await this.#deps.documents.list(scope, { limit: LISTED, after });
      seen += page.values.length;
      if (seen > MOST_COUNTED_DOCUMENTS) {
        throw new ApiError(
          'FAILED_PRECONDITION',
          `The organization has more than ${MOST_COUNTED_DOCUMENTS} documents. List their users with allDocuments of /v2/users/get instead.`,
        );
      }
      count +=
        userId === undefined ? await this.#everybody(scope, page.values) : await this.#one(scope, page.values, userId);
      after = page.next;
    } while (after !== undefined);
    return count;
  }

  async #everybody(scope: OrganizationScope, documents: readonly PlacedDocument[]): Promise<number> {
    let count = 0;
    await inParallel(documents, PARALLEL, async (document) => {
      const users = await this.#deps.users.count(scope, documentResource(document));
      count += users;
    });
    return count;
  }

  /** In how many of the documents' contact lists a user is, without those that the user left. */
  async #one(scope: OrganizationScope, documents: readonly PlacedDocument[], userId: string): Promise<number> {
    const { table } = this.#deps;
    const [[user], contacts] = await Promise.all([
      table.getMany(UserEntity, [{ tenant: scope.tenant, userId }]),
      table.getMany(
        ContactEntity,
        documents.map(({ internalId }) => ({ ...scope, resource: internalId, userId })),
      ),
    ]);
    if (!user) return 0;
    const [departures] = await departuresOf(table, scope, [user]);
    return documents.filter(({ internalId, folder }, index) => {
      const contact = contacts[index];
      return (
        contact !== undefined &&
        !hasEnded(
          departures,
          [internalId, ...(folder ? folderChain(folder) : []), scope.organizationKey],
          contact.addedAt,
        )
      );
    }).length;
  }
}

/** Count users in contact lists. */
export const countUsers: Capability<UserCounter> = /* @__PURE__ */ building([readUsers, readDocuments], {
  grants: [],
  env: ['TABLE_NAME'],
  open: (env) =>
    new UserCounter({ table: openTable(env), users: readUsers.open(env), documents: readDocuments.open(env) }),
});
