import { ApiError } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DocumentReader, type DocumentWithFolder, readDocuments } from './documents.ts';
import type { OrganizationScope } from './organizationScope.ts';
import { hasEndedInDocument } from './rules/access.ts';
import { ContactEntity, documentResource, findUsers, readUsers, type Resource, UserReader } from './users.ts';

/** Each contact list takes a query of its own. */
export const MAX_COUNTED_DOCUMENTS = 2_000;
const DOCUMENTS_PER_PAGE = 1_000;
const PARALLEL = 16;

export class UserCounter {
  readonly #table: Table;
  readonly #users: UserReader;

  constructor(table: Table) {
    this.#table = table;
    this.#users = new UserReader(table);
  }

  async of(scope: OrganizationScope, resource: Resource, userId: string | undefined): Promise<number> {
    if (userId === undefined) return this.#users.count(scope, resource);
    return (await this.#users.contactsNamed(scope, resource, [userId])).length;
  }

  /** A user in several lists is counted once per list. Throws FAILED_PRECONDITION above 2,000 documents. */
  async ofAllDocuments(scope: OrganizationScope, userId: string | undefined): Promise<number> {
    let [count, documentsRead] = [0, 0];
    const documents = new DocumentReader(this.#table);
    const read = (after: string | undefined) => documents.list(scope, { limit: DOCUMENTS_PER_PAGE, after });
    for await (const { values } of pages(read)) {
      documentsRead += values.length;
      if (documentsRead > MAX_COUNTED_DOCUMENTS) {
        throw new ApiError(
          'FAILED_PRECONDITION',
          `The organization has more than ${MAX_COUNTED_DOCUMENTS} documents. List their users with allDocuments of /v2/users/get instead.`,
        );
      }
      count += await (userId === undefined ? this.#countAll(scope, values) : this.#countOne(scope, values, userId));
    }
    return count;
  }

  async #countAll(scope: OrganizationScope, documents: readonly DocumentWithFolder[]): Promise<number> {
    const counts = await inParallel(documents, PARALLEL, (document) =>
      this.#users.count(scope, documentResource(document)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #countOne(scope: OrganizationScope, documents: readonly DocumentWithFolder[], userId: string): Promise<number> {
    const table = this.#table;
    const [[user], contacts] = await Promise.all([
      findUsers(table, scope.tenant, [userId]),
      table.getMany(
        ContactEntity,
        documents.map(({ internalId }) => ({ ...scope, resource: internalId, userId })),
      ),
    ]);
    if (!user) return 0;
    return documents.filter((document, index) => {
      const contact = contacts[index];
      return contact && !hasEndedInDocument(user.revocations, document, scope.organizationKey, contact.addedAt);
    }).length;
  }
}

export const countUsers = /* @__PURE__ */ storeCapability(UserCounter, [readUsers, readDocuments]);
