import type { OrganizationScope } from '../directory/organizationScope.ts';
import { canHaveEnded, isUnexpired } from '../directory/rules/access.ts';
import { type ReadPage, searchPage } from '../directory/searchPage.ts';
import {
  ContactEntity,
  documentUsers,
  findUsers,
  GrantEntity,
  type ListedUser,
  profilesOf,
  type User,
} from '../directory/users.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Key, Stored } from '../table/entity.ts';
import { keyAfter, keyPrefix } from '../table/keys.ts';
import type { ItemPage } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';

const MAX_ENTRIES = 1_000;
const ENTRIES_PER_USER = 100;
const PARALLEL = 8;
/** Sorts after all keys, because a part of a key has at most 200 bytes. */
const AFTER_ALL_KEYS = '\u{10ffff}'.repeat(64);

interface Entry {
  readonly key: Key;
  /** The user id as part of the sort key. */
  readonly part: string;
  readonly documentKey: string;
}

interface Access {
  readonly userId: string;
  /** Epoch ms. */
  readonly at: number;
  readonly hasExpired: boolean;
}

export interface DocumentUserPage {
  readonly limit: number;
  readonly after: string | undefined;
  readonly now: number;
}

/** Users with a contact or grant on any document of an organization. gsi4 has these items by user. */
export class DocumentUserReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** In the order of their keys, each user once. A page can be short although more follow. */
  async page(scope: OrganizationScope, { limit, after, now }: DocumentUserPage): Promise<ItemPage<ListedUser>> {
    return searchPage((from = '\u0000', count) => this.#read(scope, [from, AFTER_ALL_KEYS], count, now), {
      limit,
      after,
    });
  }

  /** In the order of the ids. Reads up to 4,000 contacts and grants of a user until one of them counts. */
  async named(scope: OrganizationScope, userIds: readonly string[], now: number): Promise<ListedUser[]> {
    const found = await inParallel(userIds, PARALLEL, (userId) => {
      const [first, last] = [keyPrefix([userId]), keyAfter([userId])];
      const read = (from = first) => this.#read(scope, [from, last], MAX_ENTRIES, now);
      return searchPage(read, { limit: 1, after: undefined });
    });
    return found.flatMap(({ values }) => values);
  }

  async #read(
    scope: OrganizationScope,
    between: readonly [string, string],
    count: number,
    now: number,
  ): Promise<ReadPage<User>> {
    const limit = Math.min(MAX_ENTRIES, ENTRIES_PER_USER * count);
    const { keys, sortKeys, next } = await this.#table.queryIndex('gsi4', documentUsers(scope), { limit, between });
    const entries = sortKeys.map((sortKey, index): Entry => {
      const [part = '', , documentKey = ''] = sortKey.split('#');
      return { key: keys[index] as Key, part, documentKey };
    });
    const indexed = [...Map.groupBy(entries, ({ part }) => part)];
    const selected = indexed.slice(0, count);
    const users = await this.#find(
      scope,
      selected.map(([, ofUser]) => ofUser),
      now,
    );
    const records = selected.flatMap(([part], index) => {
      const value = users[index];
      return value ? [{ key: behind(part), value }] : [];
    });
    // Further entries of the last user are needed only if no entry so far counts.
    const isDone = indexed.length > count || users.at(-1) !== undefined;
    const end = (isDone ? selected.at(-1)?.[0] : sortKeys.at(-1)) ?? '';
    return { records, next: next === undefined && indexed.length <= count ? undefined : behind(end) };
  }

  /** Undefined for a user without access that counts. For most users, the first contact or grant counts. */
  async #find(
    scope: OrganizationScope,
    entriesOfUsers: readonly (readonly Entry[])[],
    now: number,
  ): Promise<(User | undefined)[]> {
    const first = await this.#findAmong(
      scope,
      entriesOfUsers.map((entries) => entries.slice(0, 1)),
      now,
    );
    const others = entriesOfUsers.map((entries, index) => (first[index] ? [] : entries.slice(1)));
    const found = others.flat().length > 0 ? await this.#findAmong(scope, others, now) : [];
    return first.map((user, index) => user ?? found[index]);
  }

  async #findAmong(
    scope: OrganizationScope,
    entriesOfUsers: readonly (readonly Entry[])[],
    now: number,
  ): Promise<(User | undefined)[]> {
    const fromItem = (item: Record<string, unknown>) => toAccess(item, now);
    const items = await this.#table.batchGet(...entriesOfUsers.flat().map(({ key }) => ({ key, fromItem })));
    const users = await findUsers(this.#table, scope.tenant, distinct(items.flatMap((item) => item?.userId ?? [])));
    const userById = profilesOf(users);
    const accesses = items.values();
    return entriesOfUsers.map((entries) =>
      entries
        .map(({ documentKey }) => {
          const { userId = '', at = 0, hasExpired = true } = accesses.next().value ?? {};
          const user = userById.get(userId);
          const hasEnded = hasExpired || canHaveEnded(user?.revocations, { ...scope, internalId: documentKey }, at);
          return hasEnded ? undefined : user;
        })
        .find((user) => user !== undefined),
    );
  }
}

/** Sorts directly after all keys that begin with this part, or are this key. */
function behind(part: string): string {
  return `${part}$`;
}

function toAccess(item: Record<string, unknown>, now: number): Stored<Access> | undefined {
  if (item._t === ContactEntity.type) {
    const contact = ContactEntity.fromItem(item, now);
    return contact && { ...contact, at: contact.addedAt, hasExpired: false };
  }
  const grant = GrantEntity.fromItem(item, now);
  return grant && { ...grant, at: grant.grantedAt, hasExpired: !isUnexpired(grant, now / 1_000) };
}

export const listDocumentUsers = /* @__PURE__ */ storeCapability(
  DocumentUserReader,
  ['BatchGetItem', 'Query'],
  ['gsi4'],
);
