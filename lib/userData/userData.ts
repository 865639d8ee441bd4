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

export type UserRecords = {
  [K in InvolvingKind as K['involve']['field']]: ReturnType<K['involve']['toResponse']>[];
};

export function userDataFields() {
  const fields = involvingKinds(contentKinds).map(({ involve }) => [involve.field, involve.response()]);
  return Object.fromEntries(fields) as {
    [K in InvolvingKind as K['involve']['field']]: ReturnType<K['involve']['response']>;
  };
}

/** By the name of the kind: a sort key, undefined at the start, null at the end. */
export type UserDataCursor = Readonly<Record<string, string | null>>;

export type UserDataPage = UserRecords & {
  readonly next: UserDataCursor | undefined;
};

type Involving = ContentKind & { readonly involve: KindInvolvements };

export function involvingKinds(kinds: readonly ContentKind[]): readonly Involving[] {
  return kinds.filter((kind): kind is Involving => kind.involve !== 'none');
}

function byField(kinds: readonly Involving[], valuesOf: (index: number) => readonly object[]): UserRecords {
  const fields = kinds.map(({ involve }, index) => [involve.field, valuesOf(index)]);
  return Object.fromEntries(fields) as UserRecords;
}

export function noRecords(): UserRecords {
  return byField(involvingKinds(contentKinds), () => []);
}

const RECORDS_PER_KIND = 100;
/** Of JSON. A response must stay below 5 MB. */
const PAGE_BYTES = 4_000_000;

/** The document of the record may be deleted. */
interface UserRecord {
  readonly key: string;
  readonly documentKey: string;
  /** When the user became involved, epoch ms. */
  readonly at: number;
  /** Undefined if the record is deleted. */
  readonly response: RecordResponse | undefined;
}

interface RecordResponse {
  readonly value: object;
  readonly documentId: string;
  readonly bytes: number;
  /** Undefined if the user made the record, or if all whom it involves may see it. */
  readonly access: (RecordAccess & { readonly needsDocumentAccess: boolean }) | undefined;
}

interface KindPage {
  readonly records: readonly UserRecord[];
  readonly next: string | undefined;
}

interface UserDataRequest {
  readonly scope: OrganizationScope;
  readonly organization: OrganizationKeys;
  readonly userId: string;
  readonly names: ResponseNames;
  /** Epoch ms. */
  readonly now: number;
}

export class UserDataReader {
  readonly #table: Table;
  readonly #kinds: readonly Involving[];

  constructor(table: Table, kinds: readonly ContentKind[] = contentKinds) {
    this.#table = table;
    this.#kinds = involvingKinds(kinds);
  }

  /**
   * Up to 100 records of each kind, ordered by time, fewer if they are large. Leaves out records of others that the
   * user may not see, and those from before a removal of the user from the document.
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
 * The first included record is on the page even if it is larger than `share`. `end` is null if no record of this kind
 * follows.
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
