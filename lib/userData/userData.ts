import { AccessChecks } from '../content/accessChecks.ts';
import { involvedAt, type Involvement, InvolvementEntity } from '../content/involvements.ts';
import type { ContentKind, KindInvolvements } from '../content/kind.ts';
import { findLiveDocuments } from '../content/recordListing.ts';
import type { ResponseNames } from '../content/rules/eventMetadata.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { OrganizationKeys } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { hasEndedInDocument } from '../directory/rules/access.ts';
import { findUsers, type User } from '../directory/users.ts';
import { contentKinds } from '../kinds/contentKinds.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { divideFairly } from './rules/fairShares.ts';

type InvolvingKind = Extract<(typeof contentKinds)[number], { readonly involve: object }>;

/** The records of a user, by the field of each kind. */
export type UserRecords = {
  [K in InvolvingKind as K['involve']['field']]: ReturnType<K['involve']['toResponse']>[];
};

/** Returns the schemas of the fields of `UserRecords`. */
export function userDataFields() {
  const fields = involvingKinds(contentKinds).map(({ involve }) => [involve.field, involve.response()]);
  return Object.fromEntries(fields) as {
    [K in InvolvingKind as K['involve']['field']]: ReturnType<K['involve']['response']>;
  };
}

/** The position in the records of each kind, by its name: a sort key, undefined at the start, or null at the end. */
export type UserDataCursor = Readonly<Record<string, string | null>>;

export type UserDataPage = UserRecords & {
  /** The position at which the next page starts. Undefined if all kinds are at the end. */
  readonly next: UserDataCursor | undefined;
};

type Involving = ContentKind & { readonly involve: KindInvolvements };

export function involvingKinds(kinds: readonly ContentKind[]): readonly Involving[] {
  return kinds.filter((kind): kind is Involving => kind.involve !== 'none');
}

/** Returns the records of each kind by its field. `valuesOf` gets the index of the kind. */
function byField(kinds: readonly Involving[], valuesOf: (index: number) => readonly object[]): UserRecords {
  const fields = kinds.map(({ involve }, index) => [involve.field, valuesOf(index)]);
  return Object.fromEntries(fields) as UserRecords;
}

export function noRecords(): UserRecords {
  return byField(involvingKinds(contentKinds), () => []);
}

/** The largest number of records of each kind on one page. */
const RECORDS_PER_KIND = 100;
/** A page ends early when its records have this size as JSON, in bytes. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;

/** A record in the data of a user. It is not yet known whether its document exists. */
interface UserRecord {
  readonly key: string;
  readonly documentKey: string;
  /** When the user became involved in the record, in epoch ms. */
  readonly at: number;
  /** The record in the form of responses. Undefined if the record is deleted. */
  readonly response: RecordResponse | undefined;
}

interface RecordResponse {
  readonly value: object;
  readonly documentId: string;
  readonly bytes: number;
  /** The access rules of the record, without its document. Undefined for a record that every involved user may see. */
  readonly access: (RecordAccess & { readonly needsDocumentAccess: boolean }) | undefined;
}

/** A page of the records of one kind. */
interface KindPage {
  readonly records: readonly UserRecord[];
  /** The sort key after which the next page starts. Undefined on the last page. */
  readonly next: string | undefined;
}

/** The user whose data is read, and the organization that it is read from. */
interface UserDataRequest {
  readonly scope: OrganizationScope;
  readonly organization: OrganizationKeys;
  readonly userId: string;
  readonly names: ResponseNames;
  /** The time of the request in epoch ms. */
  readonly now: number;
}

/** Reads the records that a user made or is involved in. */
export class UserDataReader {
  readonly #table: Table;
  readonly #kinds: readonly Involving[];

  constructor(table: Table, kinds: readonly ContentKind[] = contentKinds) {
    this.#table = table;
    this.#kinds = involvingKinds(kinds);
  }

  /**
   * Returns a page of a user's data in an organization: up to 100 records of each kind, ordered by time. A page with large
   * records has fewer. A record that exists during the whole listing is returned exactly once. Leaves out:
   * - records of deleted threads and documents
   * - records that the user did not make and may not see
   * - records from before the user was removed from the document
   */
  async page(
    tenant: string,
    organization: OrganizationKeys,
    userId: string,
    cursor: UserDataCursor,
    now: number,
  ): Promise<UserDataPage> {
    const names = { apiKey: tenant, organizationId: organization.organizationId };
    const scope = organizationScope(tenant, organization);
    const request: UserDataRequest = { scope, organization, userId, names, now };
    const [[user], pages] = await Promise.all([
      findUsers(this.#table, tenant, [userId]),
      Promise.all(this.#kinds.map((kind) => this.#readKind(request, kind, cursor[kind.name]))),
    ]);
    const included = await this.#findIncluded(
      request,
      user,
      pages.flatMap(({ records }) => records),
    );
    const needs = pages.map(({ records }) => {
      let bytes = 0;
      for (const record of records) if (included.has(record)) bytes += record.response?.bytes ?? 0;
      return bytes;
    });
    const shares = divideFairly(needs, PAGE_BYTES);
    const cut = pages.map((page, index) => cutPage(page, included, shares[index] ?? 0));
    const values = byField(this.#kinds, (index) => cut[index]?.values ?? []);
    const ends = Object.fromEntries(this.#kinds.map(({ name }, index) => [name, cut[index]?.end ?? null]));
    return { ...values, next: Object.values(ends).every((end) => end === null) ? undefined : ends };
  }

  async #readKind(
    { scope, userId, names }: UserDataRequest,
    { name: kind, involve }: Involving,
    after: string | null | undefined,
  ): Promise<KindPage> {
    if (after === null) return { records: [], next: undefined };
    const { values, next } = await this.#table.query(
      InvolvementEntity,
      { ...scope, userId },
      { prefix: ['DATA', kind], limit: RECORDS_PER_KIND, after },
    );
    const involvements = values.map((value): Involvement => ({ ...value, userId, kind }));
    const found = await involve.read(this.#table, scope, involvements);
    const existing = involvements.flatMap((involvement, index) => {
      const record = found[index];
      return record ? [{ record, involvement }] : [];
    });
    const access =
      involve.access === 'none' ? [] : await involve.access.read(this.#table, scope, names.organizationId, existing);
    const responses = new Map(
      existing.map(({ record, involvement }, index) => {
        const value = involve.toResponse(names, record);
        const { documentId } = record;
        const rules = involvement.made ? undefined : access[index];
        return [involvement, { value, documentId, bytes: jsonBytes(value), access: rules }] as const;
      }),
    );
    const records = involvements.map((involvement) => ({
      key: InvolvementEntity.key({ ...scope, ...involvement }).SK,
      documentKey: involvement.documentKey,
      at: involvedAt(involvement),
      response: responses.get(involvement),
    }));
    return { records, next };
  }

  /**
   * Returns the records that belong on the page. The record and its document must exist, and the user may see the record. The
   * user must not have been removed from the document after the record was made.
   */
  async #findIncluded(
    { scope, organization, userId, now }: UserDataRequest,
    user: Pick<User, 'revocations'> | undefined,
    records: readonly UserRecord[],
  ): Promise<ReadonlySet<UserRecord>> {
    const documentIds = records.flatMap(({ response }) => response?.documentId ?? []);
    const documents = await findLiveDocuments(new DocumentReader(this.#table), scope, documentIds);
    const limited = records.filter(({ response }) => response?.access);
    const rules = limited.flatMap(({ response }): RecordAccess[] => {
      if (!response?.access) return [];
      const { needsDocumentAccess, ...access } = response.access;
      return [{ ...access, ...(needsDocumentAccess && { document: documents.get(response.documentId) }) }];
    });
    const isVisible = await new AccessChecks(this.#table, { scope, organization, now }, userId).canSee(rules);
    const hidden = new Set(limited.filter((_record, index) => !isVisible[index]));
    const included = records.filter((record) => {
      const document = record.response && documents.get(record.response.documentId);
      if (hidden.has(record) || document?.internalId !== record.documentKey) return false;
      return !hasEndedInDocument(user?.revocations, document, scope.organizationKey, record.at);
    });
    return new Set(included);
  }
}

/**
 * Returns the records that are in `included`, up to `share` bytes in all, but at least one record. `end` is the sort key at which
 * the page ends, or null if no record of this kind follows.
 */
function cutPage(
  { records, next }: KindPage,
  included: ReadonlySet<UserRecord>,
  share: number,
): { values: object[]; end: string | null } {
  const values: object[] = [];
  let [bytes, end] = [0, ''];
  for (const record of records) {
    if (record.response && included.has(record)) {
      bytes += record.response.bytes;
      if (values.length > 0 && bytes > share) return { values, end };
      values.push(record.response.value);
    }
    end = record.key;
  }
  return { values, end: next ?? null };
}

export const readUserData = /* @__PURE__ */ storeCapability(UserDataReader, ['BatchGetItem', 'Query']);
